"""Files a scenario points at: which values are paths, and what has to be there."""

import os
import re
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

from trysquare.refusals import Refusals, key, show
from trysquare.scenario.cells import blocks
from trysquare.scenario.language import Brick, ScenarioFile
from trysquare.scenario.model import Reference
from trysquare.scenario.validators import Judge, Script

REPOSITORY = "@repository"
"""The context that keeps the repository's own context files in force."""

ARGUMENT_BYTES = 120_000
"""Bytes of a prompt: it is one argument of the agent's command line, which the system bounds."""

LOADABLE = ("", ".ts", ".js", ".mts", ".mjs", ".cts", ".cjs", ".tsx")
"""Endings of the files that the agent loads as extensions."""

TEXT_LIMIT = 10 * 2**20
"""Bytes one text of a scenario may have."""


def is_path(value: str, base: Path) -> bool:
    """Whether an inline-or-path value is a path, relative to `base`.

    It is one when it is a single line that names something there, in whatever case, or that is one word with a `/`, an
    ending, or nothing but dots. Such a value is never a text, also when there is no such file.
    """
    word = value.strip()
    if not word or "\n" in word or "\r" in word:
        return False
    if not re.search(r"\s", word) and ("/" in word or re.search(r"\.\w+$", word) or not word.strip(".")):
        return True
    return bool(_namesakes(word, base))


def _namesakes(word: str, base: Path) -> list[str]:
    """What lies where a path points and has its name, whatever the case of its letters."""
    path = base / word
    try:
        return sorted(each.name for each in path.parent.iterdir() if each.name.casefold() == path.name.casefold())
    except (OSError, ValueError):
        return []


def references(file: ScenarioFile, base: Path) -> Iterator[Reference]:
    """Every file that the valid sections of a scenario point at; paths are relative to `base`."""
    if file.scenario.hypothesis is not None:
        yield Reference("[scenario] hypothesis", file.scenario.hypothesis, "text")
    if file.task is not None:
        yield from _texts("[task]", base, prompt=file.task.prompt)
        if file.task.setup is not None:
            yield Reference("[task] setup", file.task.setup, "executable")
    for where, lines in blocks(file):
        yield from _texts(where, base, prompt=lines.prompt, context=lines.context, system=lines.system)
        if lines.setup is not None:
            yield Reference(f"{where} setup", lines.setup, "executable")
    for name, brick in file.harness.items():
        yield from _brick(name, brick)
    for position, validator in enumerate(file.validation or (), 1):
        where = f"[[validation]] #{position}"
        if isinstance(validator, Script):
            yield Reference(f"{where} command", validator.command, "command")
        elif isinstance(validator, Judge):
            yield Reference(f"{where} rubric", validator.rubric, "text")


def _texts(where: str, base: Path, **values: str | None) -> Iterator[Reference]:
    for name, value in values.items():
        if value is not None and value != REPOSITORY and is_path(value, base):
            yield Reference(f"{where} {name}", value, "text")


def _brick(name: str, brick: Brick) -> Iterator[Reference]:
    where = f"[harness.{key(name)}]"
    if brick.load is not None and brick.repo is None:
        yield Reference(f"{where} load", brick.load, "extension")
    for path in brick.paths or ():
        yield Reference(f"{where} paths", path, "tree")
    for source in (brick.files or {}).values():
        yield Reference(f"{where} files", source, "file")


def check(reference: Reference, base: Path, refusals: Refusals) -> None:
    """Note what keeps a referenced file from being used."""
    problem = missing(reference, base)
    if problem is None and reference.where.endswith(" prompt"):
        problem = oversized((base / reference.value).read_bytes().decode("utf-8"))
    if problem:
        refusals.add(reference.where, problem)


def missing(reference: Reference, base: Path) -> str | None:
    """Why a referenced file cannot be used, as the end of a sentence; None when it can."""
    value, kind = reference.value, reference.kind
    path = base / value
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        near = next(iter(_namesakes(value.strip(), base)), "")
        meant = f" (did you mean {show((Path(value.strip()).parent / near).as_posix())}?)" if near else ""
        return (
            f"{show(value)} is a path and cannot be read at {base / value.strip()} ({reason.lower()}){meant}; "
            "correct it, or write the file."
        )
    if kind == "tree" and stat.S_ISDIR(mode):
        return None
    if not stat.S_ISREG(mode):
        what = "a directory" if stat.S_ISDIR(mode) else "no regular file"
        return f"{show(value)} is {what}; name a file."
    if kind == "executable" and not os.access(path, os.X_OK):
        return f"{show(value)} is not executable; run chmod +x on it."
    if kind == "command" and path.suffix != ".py" and not os.access(path, os.X_OK):
        return f"{show(value)} is neither executable nor a .py file; run chmod +x on it."
    if kind == "extension" and path.suffix not in LOADABLE:
        return unloadable(value)
    return _unreadable(path, value, kind) or _unrunnable(path, value, kind) or _unparsable(path, value, kind)


def unloadable(value: str) -> str:
    """That a file is no extension by its ending, as the end of a sentence."""
    endings = ", ".join(f"`{ending}`" for ending in LOADABLE[1:])
    return f"{show(value)} is nothing the agent loads; name an extension, which ends in one of {endings}."


def _unrunnable(path: Path, value: str, kind: str) -> str | None:
    """Why a file that is to be run would start no program."""
    if kind == "command" and path.suffix == ".py":
        return _misnamed(path, value)
    if kind not in ("executable", "command"):
        return None
    with path.open("rb") as file:
        begin = file.read(4096)
    first = begin.split(b"\n", 1)[0]
    if b"\0" in begin or (first.startswith(b"#!") and not first.endswith(b"\r")):
        return None
    if first.startswith(b"#!"):
        return f"{show(value)} has lines that end as on Windows, and no such interpreter is found; convert them."
    return f"{show(value)} does not say what runs it; begin it with a line such as `#!/bin/sh`."


def _misnamed(path: Path, value: str) -> str | None:
    """Why a `.py` file is not what runs it: its first line asks for something that is not Python."""
    with path.open("rb") as file:
        first = file.readline(200).decode("utf-8", "replace").strip()
    if not first.startswith("#!") or re.search(r"python|pypy", first):
        return None
    return (
        f"{show(value)} begins with {show(first)}, but a .py file is run with the Python of trysquare; rename it, or "
        "remove that line."
    )


def _unparsable(path: Path, value: str, kind: str) -> str | None:
    """Why a `.py` validator is no program, read as the Python that will run it reads it, and not run."""
    if kind != "command" or path.suffix != ".py":
        return None
    with warnings.catch_warnings(action="ignore"):
        try:
            compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
        except SyntaxError as error:
            line = f" at line {error.lineno}" if error.lineno else ""
            return f"{show(value)} is not valid Python{line} ({error.msg}); correct it."
        except (ValueError, RecursionError, MemoryError) as error:
            return f"{show(value)} is not valid Python ({error or 'too deeply nested'}); correct it."
    return None


def _unreadable(path: Path, value: str, kind: str) -> str | None:
    try:
        if kind != "text":
            path.open("rb").close()
            return None
        if path.stat().st_size > TEXT_LIMIT:
            return f"{show(value)} has more than {TEXT_LIMIT // 2**20} MB; shorten it."
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError:
        return f"{show(value)} is not UTF-8 text; convert it."
    except OSError as error:
        return f"{show(value)} cannot be read ({(error.strerror or str(error)).lower()}); make it readable."
    problem = unsendable(text)
    return None if problem is None else f"{show(value)} {problem}"


def unsendable(text: str) -> str | None:
    """Why a text cannot be handed to an agent, as the end of a sentence; None when it can."""
    if not text.strip():
        return "is blank; write the text into it."
    if "\0" in text:
        return "contains a NUL character; remove it."
    return None


def oversized(prompt: str) -> str | None:
    """Why a prompt does not fit on a command line, as the end of a sentence; None when it does."""
    size = len(prompt.encode())
    if size <= ARGUMENT_BYTES:
        return None
    return f"has {size} bytes, and a prompt may have {ARGUMENT_BYTES}; put material into a files brick."
