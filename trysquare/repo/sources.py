"""Cloning repositories that others own: once, at an etalon, as a working tree."""

import json
import shutil
import subprocess
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.files import digest
from trysquare.repo.command import NETWORK_TIMEOUT, attempt, local, redacted, remote, said
from trysquare.repo.etalon import is_commit, resolve_etalon
from trysquare.repo.hold import Hold
from trysquare.repo.once import build_once

_MARKER = "pinned.json"

PATIENCE = 20.0
"""Seconds a repository has to answer a question whose answer nothing depends on."""

# The server side of a clone of a local directory looks at its owner, and takes no configuration from this side.
_UPLOAD_PACK = "git -c safe.directory='*' upload-pack"


def clone_argv(source: Path | str, etalon: str, target: Path, keep_tags: bool = False) -> list[str]:
    """The command that clones a repository at an etalon without checking it out.

    A tag is cloned alone. A commit, which no flag of clone takes, is reached by fetching everything.
    """
    argv = ["git", "clone", "--quiet", "--no-checkout", "--template=", "--origin=origin"]
    if _is_near(source):
        argv.append(f"--upload-pack={_UPLOAD_PACK}")
    if not is_commit(etalon):
        argv += ["--single-branch", f"--branch={etalon}", *([] if keep_tags else ["--no-tags"])]
    return [*argv, "--", str(source), str(target)]


def clone(source: Path | str, etalon: str, target: Path, keep_tags: bool = False) -> None:
    """Clone a directory or a URL at a tag or a full commit, into a working tree with HEAD detached.

    A URL goes to git as it is. `keep_tags` keeps the tag, for a tree that is itself a source.

    Raises
    ------
    RepoError
        When the repository cannot be reached, or does not hold the etalon.
    """
    target = Path(target).absolute()
    if isinstance(source, Path):
        source = source.absolute()
        resolve_etalon(source, etalon)
    ran = _reach(source, *clone_argv(source, etalon, target, keep_tags)[1:])
    if ran.returncode:
        shutil.rmtree(target, ignore_errors=True)
        raise RepoError(_why(str(source), etalon, ran.stderr))
    try:
        _check_out(target, source, etalon)
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def _check_out(target: Path, source: Path | str, etalon: str) -> None:
    hold = Hold(target / ".git", target)
    if is_commit(etalon):
        missing = hold.listen("cat-file", "-e", f"{etalon}^{{commit}}").returncode
        if missing and _reach(source, f"--git-dir={hold.git_dir}", "fetch", "--quiet", "origin", etalon).returncode:
            raise RepoError(f"{redacted(str(source))} does not hold commit {etalon}: push it there, or name a tag.")
        hold.run("update-ref", "--no-deref", "HEAD", etalon)
    elif hold.listen("symbolic-ref", "--quiet", "HEAD").returncode == 0:
        raise RepoError(
            f"'{etalon}' is a branch of {redacted(str(source))}, and a branch moves: tag it, or write a commit in full."
        )
    hold.run("read-tree", "-u", "--reset", "HEAD")


def pin(url: str | Path, etalon: str, target: Path) -> Path:
    """Clone a remote repository at an etalon, once, as a working tree that runs are cloned from.

    A marker inside its git directory says what it is. Without one, or with that of another URL or etalon, the directory
    is made again; concurrent processes end up with one clone.

    Raises
    ------
    RepoError
        When the repository cannot be reached, or does not hold the etalon.
    """
    target = Path(target).absolute()
    wanted = {
        "url": redacted(str(url)),
        "digest": digest(str(url).encode()),
        "etalon": etalon,
    }

    def is_ready(path: Path) -> bool:
        try:
            marker = json.loads((path / ".git" / _MARKER).read_text())
        except (OSError, ValueError):
            return False
        return isinstance(marker, dict) and wanted.items() <= marker.items()

    def build(aside: Path) -> None:
        clone(url, etalon, aside, keep_tags=True)
        hold = Hold(aside / ".git", aside)
        # The address may hold a password, and nothing here needs it any more.
        hold.run("config", "--remove-section", "remote.origin")
        marker = {**wanted, "commit": hold.run("rev-parse", "HEAD").decode().strip()}
        (aside / ".git" / _MARKER).write_text(json.dumps(marker))

    return build_once(target, is_ready, build)


def _is_near(source: Path | str) -> bool:
    return isinstance(source, Path) or source.startswith(("/", "file:"))


def _reach(source: Path | str, *args: str, timeout: float = NETWORK_TIMEOUT) -> "subprocess.CompletedProcess[bytes]":
    env = {**local(), "GIT_ALLOW_PROTOCOL": "file"} if _is_near(source) else remote()
    return attempt(*args, env=env, timeout=timeout)


def answer(url: str, etalon: str) -> str:
    """What a repository says when it is asked whether it holds an etalon, as the end of a sentence. Writes nothing."""
    try:
        listed = _reach(url, "ls-remote", "--tags", "--refs", "--", url, timeout=PATIENCE)
    except RepoError as error:
        return f"does not answer: {error}"
    if listed.returncode:
        return f"does not answer: {said(listed.stderr)}"
    if is_commit(etalon):
        return "answers"
    return f"answers and holds {etalon}" if etalon in _tags(listed.stdout) else f"answers and has no tag {etalon}"


def _tags(listed: bytes) -> list[str]:
    return [line.partition("refs/tags/")[2] for line in listed.decode("utf-8", "replace").splitlines()]


def _why(source: str, etalon: str, stderr: bytes) -> str:
    """Why a clone failed: the etalon is not there, or the repository is not."""
    import difflib

    listed = _reach(source, "ls-remote", "--tags", "--refs", "--", source)
    if listed.returncode:
        return f"{redacted(source)} cannot be cloned: {said(stderr)}"
    tags = _tags(listed.stdout)
    if is_commit(etalon) or etalon in tags:
        return f"{redacted(source)} cannot be cloned at {etalon}: {said(stderr)}"
    near = difflib.get_close_matches(etalon, tags, 1)
    hint = f"did you mean '{near[0]}'?" if near else "write a tag it has, or a commit in full."
    return f"etalon '{etalon}' is not a tag of {redacted(source)}: {hint}"
