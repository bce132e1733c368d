"""A matrix as one file: its runs as a table, or all of it as an archive that opens anywhere."""

import io
import json
import os
import shutil
import stat
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from trysquare import wholeness
from trysquare.archive import damage
from trysquare.errors import ArchiveError
from trysquare.files import replacing, write_bytes
from trysquare.measure import Run, counted
from trysquare.readers import Archive
from trysquare.table import flat, frame

if TYPE_CHECKING:
    import pandas

LEFT_OUT = ("logs", "ledger", ".incoming", ".locks", ".snakemake")
"""What a matrix directory holds that says nothing of the measurement: the engine's, and locks."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time every file of a zip has, so that the same matrix gives the same bytes."""

LARGE = 2**31
"""Bytes from which a file in a zip needs the larger format."""


class Table(NamedTuple):
    """The runs of a matrix, with its cells in order; `rehearsed` where a script played the model."""

    rows: Sequence[Run]
    cells: tuple[str, ...]
    rehearsed: bool

    def flat(self) -> "pandas.DataFrame":
        """A frame with a column for each metric."""
        table = flat(frame(self.rows, self.cells))
        return table.assign(rehearsed=True) if self.rehearsed else table

    def csv(self) -> bytes:
        """A line for each run."""
        return bytes(self.flat().to_csv(index=False, lineterminator="\n"), "utf-8")

    def parquet(self) -> bytes:
        """The same columns, typed."""
        buffer = io.BytesIO()
        self.flat().to_parquet(buffer, index=False)
        return buffer.getvalue()

    def jsonl(self) -> bytes:
        """The rows of measures.json as they are."""
        lines = (json.dumps(run.row(), ensure_ascii=False, allow_nan=False) for run in self.rows)
        return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


FORMATS: dict[str, Callable[[Table], bytes]] = {"csv": Table.csv, "parquet": Table.parquet, "jsonl": Table.jsonl}
"""How the runs of a matrix are written as a table."""


def export(archive: Archive, form: str, target: Path) -> str:
    """Write the runs of a matrix as a table, one a row; returns the line that says so.

    `csv` and `parquet` have a column for each metric, and one that says so where a script played the model; `jsonl`
    has the rows of measures.json as they are.
    """
    write_bytes(target, FORMATS[form](Table(archive.rows, tuple(archive.cells), archive.rehearsed)))
    return f"{target}: {counted(len(archive.rows), 'run')}"


def pack(archive: Archive, target: Path) -> str:
    """Write a whole matrix into a zip: plan, bricks, evidence, measures and pages; returns the lines that say so.

    It holds one directory called like the matrix. The same matrix gives the same bytes, and its tables can be rendered
    again from what it holds. Evidence and bricks that are gone or damaged cannot be made again here: what is left is
    packed, and a line names each.

    Raises
    ------
    ArchiveError
        When the zip would lie in the matrix, a file cannot be named in a zip, or a derived file is missing or damaged.
    """
    root = archive.root.resolve()
    if target.resolve().is_relative_to(root):
        raise ArchiveError(f"{target} lies in the matrix it is made of: write it elsewhere.")
    _refuse_stale(archive)
    with replacing(target) as neighbour, zipfile.ZipFile(neighbour, "w") as made:
        names = sorted(_held(root))
        for name in names:
            _add(made, root, name)
    return "\n".join([f"{target}: {counted(len(names), 'file')}, {archive.standing()}", *_lacks(archive)])


def _refuse_stale(archive: Archive) -> None:
    """Refuse to pack derived files that are not there or cannot be read; those of another tool are packed as they are.

    Raises
    ------
    ArchiveError
        Naming them, and how they are made again.
    """
    found = [f"{name} is empty or cut off" for name in wholeness.unreadable(archive)]
    found += [f"{name} is missing" for name in (wholeness.absent(archive) if archive.complete else ())]
    if found and not archive.original:
        raise ArchiveError(
            f"{archive.root} is not packed, since {', '.join(found)}: remove what is damaged and make it again with "
            f"`trysquare render {archive.root}`, which costs nothing."
        )


def _lacks(archive: Archive) -> Iterator[str]:
    """What of the evidence and of the bricks is not in the zip as it was committed, a line each."""
    for name in wholeness.missing_bricks(archive):
        yield f"lacks bricks/{name}, which scoring reads: `run` with the scenario writes it again"
    if archive.original or archive.imported is not None:
        return
    for archived in archive.runs:
        for problem in damage(archived.files) if archived.run is not None and archived.state != "empty" else ():
            yield f"damaged: {archived.id} ({archived.cell}): {problem}"


def _held(root: Path) -> Iterator[str]:
    """The files of a matrix by their relative names; what is half written, a neighbour of a file, is passed over."""
    for folder, folders, names in os.walk(root):
        relative = Path(folder).relative_to(root)
        if relative == Path():
            folders[:] = [name for name in folders if name not in LEFT_OUT]
        for name in names:
            if stat.S_ISREG((Path(folder) / name).lstat().st_mode) and not (
                name.startswith(".") and name.endswith(".new")
            ):
                yield (relative / name).as_posix()


def _add(made: zipfile.ZipFile, root: Path, name: str) -> None:
    path = root / name
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ArchiveError(f"{root} holds a file whose name is not UTF-8 ({name!r}): no zip can hold it.") from None
    entry = zipfile.ZipInfo(f"{root.name}/{name}", EPOCH)
    entry.compress_type, entry.create_system = zipfile.ZIP_DEFLATED, 3
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    entry.file_size = path.stat().st_size
    with path.open("rb") as source, made.open(entry, "w", force_zip64=entry.file_size >= LARGE) as target:
        shutil.copyfileobj(source, target)
