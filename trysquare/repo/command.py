"""Running git so that only the repository decides the result: not the operator's configuration, hooks or prompts."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from trysquare import interrupt
from trysquare.errors import RepoError

TIMEOUT = 600.0
"""Seconds a git command on local files may take."""

NETWORK_TIMEOUT = 3600.0
"""Seconds a git command that talks to another machine may take."""

_NOTHING = os.devnull

# Given with every command, so that they also win over the configuration of the repository it runs in.
_CONFIG = {
    "core.hooksPath": _NOTHING,
    "core.fsmonitor": "false",
    # The two files below are read from the home directory even when no configuration names them.
    "core.attributesFile": _NOTHING,
    "core.excludesFile": _NOTHING,
    "core.autocrlf": "false",
    # Names only another system could misread are files like any other here.
    "core.protectNTFS": "false",
    "core.protectHFS": "false",
    "core.trustctime": "true",
    "core.checkStat": "default",
    "safe.directory": "*",
    "protocol.version": "2",
    "gc.auto": "0",
    "maintenance.auto": "false",
}

_IDENTITY = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "trysquare"), ("EMAIL", "trysquare@localhost"), ("DATE", "946684800 +0000"))
}

_FIXED = {
    **_IDENTITY,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": _NOTHING,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_CONFIG_COUNT": str(len(_CONFIG)),
    **{f"GIT_CONFIG_KEY_{n}": key for n, key in enumerate(_CONFIG)},
    **{f"GIT_CONFIG_VALUE_{n}": value for n, value in enumerate(_CONFIG.values())},
    "LC_ALL": "C",
}

_REACHING = ("GIT_SSH", "GIT_SSL_", "GIT_PROXY", "GIT_HTTP_", "GIT_ASKPASS")


class TooLarge(RepoError):
    """What git has to say is more than may be kept."""


def outside() -> dict[str, str]:
    """The environment of this process without what git would take from it."""
    return {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}


def local() -> dict[str, str]:
    """The environment of a git command that stays on this machine, whatever a configuration says."""
    return {**outside(), **_FIXED, "GIT_ALLOW_PROTOCOL": "none"}


def remote() -> dict[str, str]:
    """The environment of a git command that fetches.

    How the operator reaches a server (credentials, proxies, keys) stays in force; it cannot change what a commit holds.
    """
    reaching = {key: value for key, value in os.environ.items() if key.startswith(_REACHING)}
    fixed = {key: value for key, value in _FIXED.items() if key not in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")}
    ssh = reaching.get("GIT_SSH_COMMAND", "ssh")
    return {**outside(), **reaching, **fixed, "GIT_SSH_COMMAND": f"{ssh} -oBatchMode=yes"}


def attempt(
    *args: str | os.PathLike[str],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes | None = None,
    timeout: float = TIMEOUT,
    ceiling: int | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """Run one git command and return how it ended, for callers to whom failing means something.

    Parameters
    ----------
    env : mapping, optional
        The whole environment, as `local` (the default) or `remote` make it.
    timeout : float
        Seconds until the command is ended.
    ceiling : int, optional
        Bytes it may print.

    Raises
    ------
    RepoError
        When git is not installed, takes too long or prints too much.
    """
    try:
        return interrupt.run(
            ["git", *args],
            cwd=cwd,
            env=local() if env is None else env,
            input=input,
            stdin=None if input is not None else subprocess.DEVNULL,
            timeout=timeout,
            capture_output=True,
            ceiling=ceiling,
            brief=env is None or env.get("GIT_ALLOW_PROTOCOL") == "none",
        )
    except interrupt.TooMuchOutput as error:
        raise TooLarge(f"{_named(args)} printed more than {error.limit / 10**6:g} MB in {cwd}.") from None
    except subprocess.TimeoutExpired:
        raise RepoError(f"{_named(args)} took longer than {timeout:.0f} s in {cwd}: see what it waits for.") from None
    except FileNotFoundError as error:
        if error.filename != "git":
            raise RepoError(f"{error.filename} is not there: git cannot run in it.") from None
        raise RepoError("git is not installed, or not on PATH: install git 2.34 or newer.") from None


def git(
    *args: str | os.PathLike[str],
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    input: bytes | None = None,
    timeout: float = TIMEOUT,
    ceiling: int | None = None,
) -> bytes:
    """What one git command prints; `attempt` describes the parameters.

    Raises
    ------
    RepoError
        When it fails, with what git says of it.
    """
    ran = attempt(*args, cwd=cwd, env=env, input=input, timeout=timeout, ceiling=ceiling)
    if ran.returncode:
        raise RepoError(f"{_named(args)} failed{f' in {cwd}' if cwd else ''}: {said(ran.stderr)}")
    return ran.stdout or b""


def said(stderr: bytes) -> str:
    """What git complains of, in one line and without the credentials an address may hold."""
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    serious = [line for line in lines if line.startswith(("fatal:", "error:"))]
    return redacted(" ".join(serious or lines[-1:]))[:500] or "git gives no reason"


def redacted(text: str) -> str:
    """The text, without the user and password of any address in it."""
    return re.sub(r"://[^/@\s]+@", "://", text)


def _named(args: tuple[str | os.PathLike[str], ...]) -> str:
    verb = next((str(arg) for arg in args if not str(arg).startswith("-")), "")
    return f"git {verb}".strip()
