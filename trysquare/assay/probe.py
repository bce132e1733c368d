"""Behavioural probes: a behaviour that is executed instead of recognised."""

import json
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn

from trysquare import interrupt
from trysquare.assay.metrics import CannotJudge, ProbeTimeout
from trysquare.scenario import split_command
from trysquare.tail import Tail

ANSWER_LIMIT = 16 * 1024 * 1024
"""Bytes a probe may print."""
KEPT = 4096


def place(
    copy: Path,
    write: Mapping[str, str] | None = None,
    append: Mapping[str, str] | None = None,
    drop: str | Iterable[str] | None = None,
) -> None:
    """Change a copy of a tree: drop first, then write, then append.

    Raises
    ------
    CannotJudge
        When a path leads out of the copy, or there is no file to append to.
    """
    for pattern in [drop] if isinstance(drop, str) else drop or ():
        _refuse_outside(pattern)
        for found in sorted(copy.glob(pattern)):
            if found.is_dir() and not found.is_symlink():
                shutil.rmtree(found)
            else:
                found.unlink(missing_ok=True)
    for name, text in (write or {}).items():
        target = _inside(copy, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_text(text, encoding="utf-8")
    for name, text in (append or {}).items():
        target = _inside(copy, name)
        if target.is_symlink() or not target.is_file():
            raise CannotJudge(f"the tree has no file {name} to append the probe to")
        there = target.read_bytes()
        separator = b"" if there.endswith(b"\n") or not there else b"\n"
        target.write_bytes(there + separator + text.encode())


def _refuse_outside(name: str) -> None:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise CannotJudge(f"a probe changes files of the tree only: {name!r} is not a path inside it")


def _inside(copy: Path, name: str) -> Path:
    _refuse_outside(name)
    target = copy / name
    if not target.parent.resolve().is_relative_to(copy.resolve()):
        raise CannotJudge(f"{name} leads out of the tree through a link")
    return target


def ask(command: str | Sequence[str], copy: Path, timeout: float) -> Any:
    """Run a probe in a copy of the tree and return the JSON it prints.

    Raises
    ------
    ProbeTimeout
        When it does not end in time.
    CannotJudge
        When it cannot be started, exits non-zero, or prints anything but one JSON value.
    """
    argv = split_command(command) if isinstance(command, str) else [str(word) for word in command]
    with Tail(KEPT) as errors:
        try:
            ended = interrupt.run(
                argv,
                cwd=copy,
                timeout=timeout,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                stderr=errors.fd,
                ceiling=ANSWER_LIMIT,
            )
        except subprocess.TimeoutExpired:
            raise ProbeTimeout(f"the probe `{argv[0]}` did not end within {timeout:g} s") from None
        except interrupt.TooMuchOutput:
            raise CannotJudge(f"the probe `{argv[0]}` printed more than {ANSWER_LIMIT} bytes") from None
        except OSError as error:
            raise CannotJudge(f"the probe `{argv[0]}` cannot be started ({error.strerror})") from None
    if ended.returncode != 0:
        raise CannotJudge(f"the probe `{argv[0]}` exited {ended.returncode}: {_one_line(errors.text)}")
    try:
        return json.loads(ended.stdout, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise CannotJudge(f"the probe `{argv[0]}` printed no JSON ({error}): {_one_line(errors.text)}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _one_line(text: str) -> str:
    return " ".join(text.split())[-500:] or "nothing on its standard error"
