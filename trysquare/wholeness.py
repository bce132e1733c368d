"""What of a matrix directory is gone, or is there and cannot be read. Reads, and writes nothing."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import digest, read_json
from trysquare.layout import Layout
from trysquare.matrix import Blob, CellPlan, Matrix
from trysquare.readers.view import Archive

PARQUET = b"PAR1"
"""How every such file begins and ends."""


def absent(archive: Archive) -> list[str]:
    """The derived files a matrix owes and does not have."""
    layout = Layout(archive.root)
    owed = [layout.state, layout.measures, *([layout.synthesis] if archive.complete else [])]
    if not archive.original and archive.complete:
        owed += [layout.parquet, layout.synthesis.with_suffix(".html")]
    return [path.name for path in owed if not path.is_file()]


def unreadable(archive: Archive) -> list[str]:
    """The derived files that are there and are not what such a file is, by their relative names."""
    layout = Layout(archive.root)
    texts = [*layout.root.glob("synthesis*.md"), *layout.pages.rglob("*.html")]
    checks: dict[Path, Callable[[Path], bool]] = {layout.state: _holds(dict), layout.measures: _holds(list)}
    checks |= {layout.parquet: _is_parquet} | dict.fromkeys(sorted(texts), _has_text)
    checks |= dict.fromkeys(sorted(layout.root.glob("synthesis*.html")), _is_page)
    found = [path for path, sound in checks.items() if path.is_file() and not sound(path)]
    return [path.relative_to(layout.root).as_posix() for path in found]


def missing_bricks(archive: Archive) -> list[str]:
    """The frozen bytes that the plan names and that are gone or were changed; none where there is no plan."""
    if archive.original:
        return []
    layout = Layout(archive.root)
    matrix = Matrix.load(layout.plan)
    rubrics = (validator.settings.get("rubric") for validator in matrix.validators.values())
    names = {*_frozen(matrix), *(name for name in rubrics if name)}
    names |= {matrix.rehearsal.script} if matrix.rehearsal is not None else set()
    return sorted(name for name in names if not _is_brick(layout.brick(name)))


def _frozen(value: Any) -> Iterator[str]:
    """The digests of the frozen files that a part of a plan names."""
    if isinstance(value, Blob):
        yield value.digest
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _frozen(each)
    elif isinstance(value, tuple):
        for each in value:
            yield from _frozen(each)
    elif is_dataclass(value):
        for field in fields(value):
            yield from _frozen(getattr(value, field.name))
    if isinstance(value, CellPlan):
        yield from (name for name in (value.prompt, value.context, value.system) if name is not None)


def _is_brick(path: Path) -> bool:
    try:
        return digest(path.read_bytes()) == path.name
    except FileNotFoundError:
        return False


def _holds(kind: type) -> Callable[[Path], bool]:
    def sound(path: Path) -> bool:
        try:
            return isinstance(read_json(path), kind)
        except ArchiveError:
            return False

    return sound


def _is_parquet(path: Path) -> bool:
    data = path.read_bytes()
    return len(data) > 2 * len(PARQUET) and data.startswith(PARQUET) and data.endswith(PARQUET)


def _has_text(path: Path) -> bool:
    return bool(path.read_bytes().strip())


def _is_page(path: Path) -> bool:
    return path.read_bytes().rstrip().endswith(b"</html>")
