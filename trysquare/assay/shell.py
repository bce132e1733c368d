"""Which shell commands certainly left the sources alone. When in doubt, none."""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

READERS = (
    r"\[|basename|cat|cd|cmp|column|comm|cut|date|df|diff|dirname|du|echo|e?grep|false|fgrep|file|find|head|jq|ls|"
    r"md5sum|nl|printenv|printf|pwd|readlink|realpath|rg|sha256sum|sleep|sort|stat|tail|test|tr|tree|true|type|uname|"
    r"wc|which|whoami"
)
GIT_READERS = r"blame|cat-file|diff|grep|log|ls-files|ls-tree|rev-parse|shortlog|show|status"
WRITING_OPTION = r"-.*(?:update|snapshot|output|xml|html|report|log|save|write|delete|exec|fprint|fls|ok)"
SUBSTITUTION = r"`|\$[('{]|<<|[<>]\("
SEPARATORS = frozenset({";", "&&", "||", "|", "&", "(", ")"})
PRINTED_LINES = r"[\d,$ ]+p"
ASSIGNMENT = r"[A-Za-z_]\w*="


def leaves_sources_alone(command: str, suite: Sequence[str] = ()) -> bool:
    """Whether a shell command certainly wrote no source file.

    True for readers (`cat`, `grep`, `git diff`, `sed -n 1,9p`, ...), for the usual test runners and for `suite`, the
    declared one, joined by any operators and redirected nowhere but to /dev/null.
    """
    if re.search(SUBSTITUTION, command):
        return False
    try:
        return all(_harmless(words, list(suite)) for words in _simple_commands(command.replace("\\\n", " ")))
    except ValueError:
        return False


def _simple_commands(command: str) -> Iterator[list[str]]:
    """The words of each simple command, redirections checked and removed; ValueError when one writes or is unclear."""
    import shlex

    for line in command.splitlines():
        if line.lstrip().startswith("#"):
            continue
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split, lexer.commenters = True, ""
        tokens, words = list(lexer), list[str]()
        while tokens:
            token = tokens.pop(0)
            if token in SEPARATORS:
                yield words
                words = []
            elif set(token) <= set("<>&|;()"):
                _check_redirection(token, tokens.pop(0) if tokens else "")
                if words and words[-1] in ("1", "2"):
                    words.pop()
            else:
                words.append(token)
        yield words


def _check_redirection(operator: str, target: str) -> None:
    reads = operator == "<"
    duplicates = operator == ">&" and target.isdigit()
    discards = set(operator) <= set(">&") and target == "/dev/null"
    if not (reads or duplicates or discards):
        raise ValueError(f"{operator} {target}")


def _harmless(words: list[str], suite: list[str]) -> bool:
    while words and re.match(ASSIGNMENT, words[0]):
        words = words[1:]
    if words[:1] == ["timeout"] and not _options(words[1:2]):
        words = words[2:]
    if not words or words == suite:
        return True
    program, arguments = PurePosixPath(words[0]).name, words[1:]
    options = _options(arguments)
    if any(re.match(WRITING_OPTION, option) for option in options):
        return False
    if program in ("sort", "tree", "go") and any(option.startswith("-o") for option in options):
        return False
    if program == "sed":
        return arguments[:1] == options == ["-n"] and bool(re.fullmatch(PRINTED_LINES, "".join(arguments[1:2])))
    if program == "uniq":
        return arguments == options
    if program == "git":
        return bool(re.fullmatch(GIT_READERS, "".join(arguments[:1])))
    return bool(re.fullmatch(READERS, program)) or _is_runner(program, arguments)


def _options(words: list[str]) -> list[str]:
    return [word for word in words if word.startswith("-")]


def _is_runner(program: str, arguments: list[str]) -> bool:
    if re.fullmatch(r"python[\d.]*", program):
        return arguments[:1] == ["-m"] and arguments[1:2] in (["pytest"], ["unittest"])
    if program in ("cargo", "go"):
        return arguments[:1] == ["test"]
    return program in ("pytest", "py.test") or (program == "node" and arguments[:1] == ["--test"])
