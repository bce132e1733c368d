"""Finding, reading and asking a machine file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trysquare.config.values import ConfigError, expand, is_remote, which_file
from trysquare.refusals import Refusals, closest, key, listed, show, toml

NAME = "trysquare.toml"

MEASURING = frozenset({"provider", "model", "thinking", "etalon", "repetitions", "draws", "seed"})
"""Keys that decide a measurement or a verdict, and so belong to the scenario alone."""

CREDENTIALS = re.compile(r"https?://[^/]*@|(?:\w+://)?[^/@\s]*:[^/@]*@")
"""An address with a password, or over http with a user, which is a token more often than a name."""


@dataclass(frozen=True)
class Config:
    """One machine: `repos` and `harness` map names to addresses, `defaults` holds load fallbacks as written."""

    repos: Mapping[str, str] = field(default_factory=dict)
    harness: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None
    isolation: str = "none"

    def repo(self, name: str) -> Path:
        """The directory of a repository.

        Raises
        ------
        ConfigError
            When the name is unknown, or names a URL, which has no directory before it is pinned.
        """
        value = self.address("repos", name)
        if is_remote(value):
            raise ConfigError(f"{self._file}: [repos] {key(name)} is a URL; it has no directory before it is pinned.")
        return self._expanded(value)

    def remote(self, name: str) -> str | None:
        """The git URL of a repository, verbatim, or None when it is a directory."""
        value = self.address("repos", name)
        return value if is_remote(value) else None

    def address(self, section: str, name: str) -> str:
        """What `[repos]` or `[harness]` says of a name: a URL verbatim, or a path as written.

        Raises
        ------
        ConfigError
            When it says nothing; the sentence shows the two lines to write.
        """
        known: Mapping[str, str] = getattr(self, section)
        if name in known:
            return known[name]
        lines = f"[{section}]\n{key(name)} = {toml(f'/path/to/{name}')}"
        if self.path is None:
            raise ConfigError(
                f"{show(name)} is not resolved: there is no {NAME}; write one beside the scenario:\n{lines}"
            )
        raise ConfigError(
            f"{self.path}: [{section}] does not name {show(name)}{closest(name, known)}; it names {listed(known)}. "
            f"Add the line:\n{lines}"
        )

    def place(self, section: str, name: str) -> str:
        """An address ready for use: a URL verbatim, or an absolute path."""
        value = self.address(section, name)
        return value if is_remote(value) else str(self._expanded(value))

    @property
    def workdir(self) -> Path:
        """The absolute directory for clones and stores."""
        value = self.defaults.get("workdir")
        if value is None:
            import platformdirs

            return Path(platformdirs.user_cache_dir("trysquare"))
        return self._expanded(value)

    @property
    def _file(self) -> str:
        return NAME if self.path is None else str(self.path)

    def _expanded(self, value: str) -> Path:
        base = Path() if self.path is None else self.path.parent
        return Path(expand(value, base)).absolute()


def find(scenario: Path) -> Path | None:
    """The machine file of a scenario: on each level from its directory upwards, beside it, then in `config/`."""
    for level in _levels(scenario):
        for candidate in (level / NAME, level / "config" / NAME):
            if candidate.is_file():
                return candidate
    return None


def _levels(scenario: Path) -> Iterator[Path]:
    start = scenario.absolute().parent
    yield from (start, *start.parents)


def load(path: Path | None) -> Config:
    """The machine that a file describes; without a file, one that knows no address.

    Raises
    ------
    ConfigError
        With one line for each problem.
    """
    from trysquare.config.language import MachineFile
    from trysquare.scenario import shape
    from trysquare.scenario.loading import read_toml

    if path is None:
        return Config()
    raw = read_toml(path, ConfigError, "a machine file")
    if which_file(raw) == "scenario":
        raise ConfigError(f"{path}: is a scenario, not a machine file; name it as scenario, and a {NAME} here.")
    refusals = Refusals(path, ConfigError)
    kept = _without_measuring(raw, refusals)
    _check_isolation(kept, refusals)
    file, _ = shape.read(MachineFile, kept, refusals, {})
    _check_addresses(file.repos, "repos", path, refusals)
    _check_addresses(file.harness, "harness", path, refusals)
    if file.defaults.workdir is not None:
        _check_path("[defaults] workdir", file.defaults.workdir, path, refusals)
    refusals.settle()
    defaults = file.defaults.model_dump(exclude_none=True)
    return Config(file.repos, file.harness, defaults, path, file.isolation.backend)


def _without_measuring(raw: Mapping[str, Any], refusals: Refusals, where: str = "") -> dict[str, Any]:
    """The tables without the keys that decide a measurement; each of those is noted."""
    kept = {}
    for name, value in raw.items():
        if name in MEASURING:
            refusals.add(
                f"{where} {name}".strip(),
                f"found {show(value)}: another machine would then give another measurement or verdict; "
                "write it in the scenario.",
            )
        else:
            kept[name] = _without_measuring(value, refusals, f"[{name}]") if isinstance(value, dict) else value
    return kept


def _check_isolation(raw: dict[str, Any], refusals: Refusals) -> None:
    section = raw.get("isolation")
    backend = section.get("backend") if isinstance(section, dict) else None
    if isinstance(section, dict) and isinstance(backend, str) and backend != "none":
        refusals.add(
            "[isolation] backend", f'found {show(backend)}, which is not available yet; write backend = "none".'
        )
        raw["isolation"] = {name: value for name, value in section.items() if name != "backend"}


def _check_addresses(addresses: Mapping[str, str], section: str, path: Path, refusals: Refusals) -> None:
    for name, value in addresses.items():
        where = f"[{section}] {key(name)}"
        if CREDENTIALS.match(value):
            refusals.add(
                where, "the address holds credentials, which would end in archives; use git's credential helper."
            )
        elif not is_remote(value):
            _check_path(where, value, path, refusals)
        elif any(ord(letter) <= 32 for letter in value):
            refusals.add(where, "the URL holds spaces or control characters; write it without.")


def _check_path(where: str, value: str, path: Path, refusals: Refusals) -> None:
    if "\0" in value:
        refusals.add(where, "the path holds a NUL character; remove it.")
        return
    if "://" in value:
        scheme = value.partition("://")[0]
        refusals.add(where, f"found a URL of the kind {show(scheme)}; write one of https, http, ssh, git or file.")
        return
    try:
        expand(value, path.parent)
    except ConfigError as error:
        refusals.add(where, str(error))
