#!/usr/bin/env python3
"""Build `repository/`, the git repository of the demo, from the plain files of `project/` and `later/`.

Three commits: the package, its suite (tagged etalon-v1: what is measured), and the correction that came later, which no
measured tree may hold. Identity, dates and modes are fixed, so the commit ids are the same everywhere. A repository
that is already right is left alone, one that is not is built again.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ETALON = "etalon-v1"
NAME, EMAIL = "Tally", "tally@example.org"
AUTHOR = f"{NAME} <{EMAIL}>"
ENVIRONMENT = {
    "PATH": os.environ.get("PATH", os.defpath),
    "HOME": os.devnull,
    "XDG_CONFIG_HOME": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_COMMITTER_NAME": NAME,
    "GIT_COMMITTER_EMAIL": EMAIL,
    "LC_ALL": "C",
}


def git(*arguments: str, cwd: Path, data: bytes | None = None) -> str:
    """Run git away from every configuration of the machine."""
    command = ["git", "-c", "safe.directory=*", *arguments]
    done = subprocess.run(command, cwd=cwd, input=data, env=ENVIRONMENT, capture_output=True, check=True)
    return done.stdout.decode().strip()


def stream() -> bytes:
    """The whole history, as `git fast-import` reads it."""
    package, suite, later = (dict(_files(HERE / name)) for name in ("project", "project", "later"))
    package = {path: data for path, data in package.items() if not path.startswith("tests/")}
    parts = [
        _commit(1, 1767607200, "Price lines, receipts and stock", package),
        _commit(2, 1768212000, "Describe the behaviour in a suite", suite),
        _commit(3, 1768816800, "Start the bulk discount at the tenth piece (ticket 7)", later),
        f"tag {ETALON}\nfrom :2\ntagger {AUTHOR} 1768212000 +0000\n".encode() + _data(b"Before ticket 7\n"),
        b"done\n",
    ]
    return b"".join(parts)


def build(target: Path) -> bool:
    """Make `target` the repository of the demo; returns whether anything had to be done."""
    for leftover in target.parent.glob(".building-*"):
        shutil.rmtree(leftover)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as directory:
        fresh = Path(directory) / "repository"
        git("init", "--quiet", "--template=", "-b", "main", str(fresh), cwd=target.parent)
        git("fast-import", "--quiet", "--done", cwd=fresh, data=stream())
        git("reset", "--quiet", "--hard", cwd=fresh)
        if _state(target) == _state(fresh):
            return False
        if target.exists():
            target.rename(Path(directory) / "wrong")
        fresh.rename(target)
    return True


def main() -> int:
    """Build beside this file, one process at a time."""
    lock = os.open(HERE, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        built = build(HERE / "repository")
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", b"") or str(error).encode()
        print(f"{HERE / 'repository'} cannot be built: {said.decode(errors='replace').strip()}", file=sys.stderr)
        return 1
    finally:
        os.close(lock)
    print(f"examples/demo/repository {'built' if built else 'is up to date'}")
    return 0


def _state(repository: Path) -> list[str]:
    """Commits of main and of the etalon, the tag, and the files that differ from main; empty when it is damaged."""
    here = ("--git-dir=.git", "--work-tree=.")
    refs = ("refs/heads/main", f"refs/tags/{ETALON}^{{commit}}", f"refs/tags/{ETALON}")
    if not (repository / ".git").is_dir():
        return []
    try:
        git(*here, "fsck", "--no-dangling", cwd=repository)
        named = git(*here, "rev-parse", *refs, cwd=repository)
        changed = git(*here, "diff", "--name-only", "refs/heads/main", "--", cwd=repository)
    except subprocess.CalledProcessError:
        return []
    return [*named.splitlines(), *changed.splitlines()]


def _files(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_bytes()


def _commit(mark: int, when: int, message: str, files: dict[str, bytes]) -> bytes:
    head = f"commit refs/heads/main\nmark :{mark}\nauthor {AUTHOR} {when} +0000\ncommitter {AUTHOR} {when} +0000\n"
    parts = [head.encode(), _data(message.encode() + b"\n")]
    parts += [f"M 100644 inline {path}\n".encode() + _data(data) for path, data in files.items()]
    return b"".join(parts)


def _data(data: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(data), data)


if __name__ == "__main__":
    raise SystemExit(main())
