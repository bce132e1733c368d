"""Declared commands: one splitting rule for the loader that vets them and for whoever runs them."""

import shlex

from trysquare.errors import TrysquareError

SHELL_ONLY = ("&&", "||", ">>", ";", "|", ">", "<", "&")
"""Operators that only a shell understands, the longer ones first; no shell runs a declared command."""


class ScenarioError(TrysquareError):
    """A scenario that is not a well-formed experiment; always raised before anything is spent."""


def split_command(command: str) -> list[str]:
    """One declared command as an argument vector.

    Raises
    ------
    ScenarioError
        When the command is empty, its quotes are not balanced, or it needs a shell.
    """
    command = command.strip()
    if not command.isprintable() and any(ord(letter) < 32 or ord(letter) == 127 for letter in command):
        raise ScenarioError("a command is one line without control characters; put several steps into a script.")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ScenarioError(f"{command!r} cannot be split into words ({error}); balance its quotes.") from None
    if not words or not words[0]:
        raise ScenarioError("the command is empty; write the program and its arguments.")
    operator = _shell_only(command)
    if operator:
        raise ScenarioError(
            f"{command!r} uses `{operator}`, which only a shell understands and no shell runs it; "
            "put the steps into a script, or quote the word."
        )
    return words


def _shell_only(command: str) -> str | None:
    """The first shell operator outside quotes."""
    quote, position = "", 0
    while position < len(command):
        letter = command[position]
        if letter == "\\" and quote != "'":
            position += 2
            continue
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            found = next((word for word in SHELL_ONLY if command.startswith(word, position)), None)
            if found:
                return found
        position += 1
    return None
