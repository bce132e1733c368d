"""The two ways a path is matched against a pattern."""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase


def is_artefact(path: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches the whole path, `*` crossing directories, or one component; a final `/` is ignored."""
    return any(
        fnmatchcase(candidate, pattern.rstrip("/")) for pattern in patterns for candidate in (path, *path.split("/"))
    )


def selects(pattern: str, path: str) -> bool:
    """Whether a pattern matches a path component by component, `**` standing for any number of them."""
    return _match(pattern.split("/"), path.split("/"))


def _match(patterns: Sequence[str], parts: Sequence[str]) -> bool:
    if not patterns or not parts:
        return not parts and all(pattern == "**" for pattern in patterns)
    if patterns[0] == "**":
        return _match(patterns[1:], parts) or _match(patterns, parts[1:])
    return fnmatchcase(parts[0], patterns[0]) and _match(patterns[1:], parts[1:])
