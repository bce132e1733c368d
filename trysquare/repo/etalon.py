"""Etalons: the tag or the full commit that pins what is measured, and reading files at it."""

import os
import re
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.repo.command import attempt, git


def is_commit(etalon: str) -> bool:
    """Whether this etalon names a commit outright (exactly 40 lower-case hexadecimal digits) rather than a tag."""
    return re.fullmatch(r"[0-9a-f]{40}", etalon) is not None


def locate(source: Path) -> Path:
    """The git directory of a directory, a worktree or a bare repository; directories above it are not searched.

    Raises
    ------
    RepoError
        When it is none of these.
    """
    source = Path(source).absolute()
    if (source / ".git").exists():
        return source / ".git"
    if (source / "HEAD").is_file() and (source / "objects").is_dir():
        return source
    if not source.is_dir():
        raise RepoError(f"{source} is not a directory: correct the path of the repository in the machine file.")
    raise RepoError(f"{source} is not the top of a git repository: name the directory that holds its .git.")


def resolve_etalon(source: Path, etalon: str) -> str:
    """The commit a tag, annotated or not, or a full commit designates in a local repository.

    Raises
    ------
    RepoError
        When it is neither, which includes branches and short hashes: they do not pin anything.
    """
    there = f"--git-dir={locate(source)}"
    if is_commit(etalon):
        found, what = etalon, f"commit {etalon}"
    else:
        if "\0" in etalon:
            raise RepoError("an etalon cannot hold a NUL character: write the name of a tag, or a commit in full.")
        listed = attempt(there, "show-ref", "--verify", "--hash", "--", f"refs/tags/{etalon}")
        if listed.returncode:
            raise RepoError(f"etalon '{etalon}' is not a tag of {source}: {_advice(there, etalon)}")
        found, what = listed.stdout.decode().strip(), f"tag '{etalon}'"
    peeled = attempt(there, "rev-parse", "--verify", "--quiet", f"{found}^{{commit}}")
    commit = peeled.stdout.decode().strip()
    if peeled.returncode:
        raise RepoError(f"{what} is no commit in {source}: fetch it there, or name another etalon.")
    if not is_commit(commit):
        raise RepoError(f"{source} does not name its objects by SHA-1, which is the only format supported: convert it.")
    return commit


def _advice(there: str, etalon: str) -> str:
    import difflib

    tags = (
        git(there, "for-each-ref", "--format=%(refname:strip=2)", "refs/tags").decode("utf-8", "replace").splitlines()
    )
    near = difflib.get_close_matches(etalon, tags, 1)
    if near:
        return f"did you mean '{near[0]}'?"
    commit = attempt(there, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{etalon}^{{commit}}")
    if commit.returncode == 0:
        return f"only a tag or a full commit pins it; tag it, or write {commit.stdout.decode().strip()}."
    return f"it has {'the tags ' + ', '.join(tags[:5]) if tags else 'no tag'}; write a tag, or a commit in full."


def commit_of(source: Path, etalon: str) -> str:
    """The commit an etalon designates, for the archive: what `resolve_etalon` returns."""
    return resolve_etalon(source, etalon)


def etalon_file(source: Path, etalon: str, path: str) -> str:
    """The text of one file at the etalon, read without checking anything out; bytes that are no UTF-8 are escaped.

    Raises
    ------
    RepoError
        When the etalon does not hold such a file.
    """
    commit = resolve_etalon(source, etalon)
    ran = attempt(f"--git-dir={locate(source)}", "cat-file", "blob", f"{commit}:{path}")
    if ran.returncode:
        raise RepoError(f"{path} is not a file at {etalon} of {source}: `etalon_files` lists those that are.")
    return ran.stdout.decode("utf-8", "surrogateescape")


def etalon_files(source: Path, etalon: str) -> list[str]:
    """Every path tracked at the etalon, sorted."""
    command = (f"--git-dir={locate(source)}", "ls-tree", "-r", "-z", "--name-only", "--full-tree")
    if is_commit(etalon) and not (listed := attempt(*command, etalon)).returncode:
        return sorted(names(listed.stdout))
    return sorted(names(git(*command, resolve_etalon(source, etalon))))


def names(listed: bytes) -> list[str]:
    """The names of a NUL-terminated listing of git."""
    return [os.fsdecode(name) for name in listed.split(b"\0") if name]
