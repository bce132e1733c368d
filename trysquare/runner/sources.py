"""Where measured code and harness repositories come from, and pinning those that are elsewhere."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from trysquare.config import Config
from trysquare.errors import RepoError
from trysquare.files import write_json
from trysquare.matrix import Extension
from trysquare.outputs import slug

if TYPE_CHECKING:
    from trysquare.scenario import Scenario

INSTALLED = "trysquare-installed.json"
"""The marker of a harness repository whose dependencies are in place, inside its `.git`."""

SHOWN_OF_ADDRESS = 20
"""Characters of an address that the name of its pin begins with."""

INSTALL_TIMEOUT = 300.0
"""Seconds that installing the dependencies of a harness repository may take."""


def settle_repo(scenario: "Scenario", config: Config) -> tuple[Path, str]:
    """Where the repository will be read from, and what the machine file declares; nothing is cloned or reached for."""
    name, etalon = scenario.task.repo, scenario.task.etalon
    url = config.remote(name)
    if url is None:
        return config.repo(name), config.address("repos", name)
    return source_dir(config, name, url, etalon), url


def source_dir(config: Config, name: str, url: str, etalon: str) -> Path:
    """Where a remote repository is pinned: keyed by name, URL and etalon, so that none of them can go stale."""
    return config.workdir / "sources" / f"{slug(name)}-{_short(url)}-{slug(etalon)}"


def harness_dir(workdir: Path, address: str, tag: str) -> Path:
    """Where a harness repository is pinned, its dependencies installed."""
    name = slug(address.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git"))
    return workdir / "harness" / f"{name[:SHOWN_OF_ADDRESS]}-{_short(address)}-{slug(tag)}"


def extension_path(workdir: Path, extension: Extension) -> Path:
    """Where the extension of a pinned repository is, once `prepare_harness` made it."""
    assert extension.origin is not None and extension.tag is not None
    return harness_dir(workdir, extension.origin, extension.tag) / extension.load


def _short(text: str) -> str:
    return hashlib.blake2s(text.encode(), digest_size=4).hexdigest()


def prepare_source(config: Config, name: str, etalon: str) -> Path:
    """The local repository that runs are cloned from; a URL is pinned exactly once, as a working tree.

    Raises
    ------
    ConfigError, RepoError
        When the name is unknown, or the URL does not answer or does not hold the etalon.
    """
    from trysquare import repo

    url = config.remote(name)
    return config.repo(name) if url is None else repo.pin(url, etalon, source_dir(config, name, url, etalon))


def prepare_harness(config: Config, name: str, tag: str) -> Path:
    """A harness repository at its tag, cloned and installed exactly once.

    Raises
    ------
    ConfigError, RepoError
        When the name is unknown, the address does not answer, or its dependencies cannot be installed.
    """
    from trysquare import repo
    from trysquare.repo.once import build_once

    address = config.place("harness", name)

    def build(aside: Path) -> None:
        repo.pin(address, tag, aside)
        install_dependencies(aside)
        write_json(aside / ".git" / INSTALLED, {"tag": tag})

    return build_once(
        harness_dir(config.workdir, address, tag), lambda path: (path / ".git" / INSTALLED).exists(), build
    )


def install_dependencies(clone_dir: Path, timeout: float = INSTALL_TIMEOUT) -> None:
    """Install what a harness repository needs at run time; nothing without a package.json.

    Raises
    ------
    RepoError
        When npm is not there, fails, or takes longer than `timeout` seconds.
    """
    if not (clone_dir / "package.json").is_file():
        return
    import subprocess

    from trysquare import interrupt

    locked = (clone_dir / "package-lock.json").is_file()
    command = ["npm", "ci" if locked else "install", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = interrupt.run(command, cwd=clone_dir, timeout=timeout, capture_output=True, text=True)
    except FileNotFoundError:
        raise RepoError(f"{clone_dir} has a package.json but npm is not on PATH; install npm.") from None
    except subprocess.TimeoutExpired:
        raise RepoError(
            f"installing the dependencies of {clone_dir} took more than {timeout:g} s; try again."
        ) from None
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()
        last = reason[-1] if reason else f"npm exited {done.returncode}"
        raise RepoError(f"the dependencies of {clone_dir} cannot be installed ({last}); correct its package.json.")
