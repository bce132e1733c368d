"""Running a script validator: one argument, JSON on its standard output."""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from trysquare import interrupt
from trysquare.tail import Tail
from trysquare.validation.context import where
from trysquare.validation.result import Result, Unusable, answer

STDOUT_LIMIT = 16 * 1024 * 1024
"""Bytes a validator may print before it is ended."""
STDERR_KEPT = 256 * 1024
"""Bytes kept of the end of what it says about itself."""

PASSED = (
    r"CARGO_HOME|CONDA_PREFIX|GOCACHE|GOPATH|GOROOT|HOME|JAVA_HOME|LANG|LANGUAGE|LC_\w+|LD_LIBRARY_PATH|LOGNAME|PATH|"
    r"PYTHONHASHSEED|PYTHONPATH|RUSTUP_HOME|SHELL|SSL_CERT_DIR|SSL_CERT_FILE|TMPDIR|TZ|USER|VIRTUAL_ENV|XDG_\w+"
)
"""Variables a validator and the suite it runs may need; nothing that could be a key."""


class Runnable(Protocol):
    """What `run_script` reads of a validator: `config["command"]` is the path of its executable."""

    @property
    def mode(self) -> str: ...  # noqa: D102

    @property
    def metrics(self) -> Sequence[str]: ...  # noqa: D102

    @property
    def config(self) -> Mapping[str, Any]: ...  # noqa: D102


def environment() -> dict[str, str]:
    """The environment of a validator: what it may need of this one, and no bytecode written beside its sources."""
    passed = {key: value for key, value in os.environ.items() if re.fullmatch(PASSED, key)}
    return {**passed, "PYTHONDONTWRITEBYTECODE": "1"}


def run_script(validator: Runnable, context: str | Path, timeout: float, cwd: str | Path | None = None) -> Result:
    """Run a validator over one context file, for at most `timeout` seconds, and read what it returned.

    A `.py` file runs with this interpreter, anything else is executed. Its working directory is `cwd`, or an empty
    one, and never the measured tree.
    """
    command = where(validator.config["command"])
    argv = [*([sys.executable] if command.endswith(".py") else []), command, where(context)]
    began = time.monotonic()
    with Tail(STDERR_KEPT) as errors, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as empty:
        outcome = _run(argv, Path(cwd or empty).resolve(), timeout, errors.fd)
    seconds = round(time.monotonic() - began, 3)
    return replace(_read(validator, outcome, errors.text), seconds=seconds)


def _read(validator: Runnable, outcome: "subprocess.CompletedProcess[bytes] | str", stderr: str) -> Result:
    if isinstance(outcome, str):
        return Result(validator.mode, None, stderr, _one_line(outcome))
    if outcome.returncode != 0:
        return Result(validator.mode, None, stderr, _one_line(f"{_manner(outcome.returncode)}: {_last_line(stderr)}"))
    try:
        return Result(validator.mode, answer(outcome.stdout, validator.metrics), stderr)
    except Unusable as error:
        return Result(validator.mode, None, stderr, _one_line(str(error)))


def _run(argv: Sequence[str], cwd: Path, timeout: float, stderr: int) -> "subprocess.CompletedProcess[bytes] | str":
    """The ended process, or why there is none worth reading."""
    try:
        return interrupt.run(
            argv,
            cwd=cwd,
            env=environment(),
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            stderr=stderr,
            ceiling=STDOUT_LIMIT,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {timeout:g} s"
    except interrupt.TooMuchOutput:
        return f"printed more than {STDOUT_LIMIT} bytes"
    except OSError as error:
        return f"cannot be started: {error.strerror}"


def _manner(status: int) -> str:
    return f"exited {status}" if status >= 0 else f"was ended by signal {-status}"


def _last_line(text: str) -> str:
    return next((line for line in reversed(text.splitlines()) if line.strip()), "nothing on its standard error")


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 500 else f"{line[:497]}..."
