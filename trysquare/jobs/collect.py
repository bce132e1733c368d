"""The actor of rules score, collect and collect_matrix: what the archive says, as derived files."""

from collections.abc import Sequence
from pathlib import Path

from trysquare import pointers
from trysquare.collecting import collect, status_line
from trysquare.jobs import entry
from trysquare.layout import Layout


def main(arguments: Sequence[str]) -> int:
    """`[--pointer FILE] MATRIX...`: with a pointer, an incomplete matrix is a failure."""
    pointer = None
    if arguments[:1] == ["--pointer"]:
        pointer, arguments = Path(arguments[1]), arguments[2:]
    complete = True
    for directory in arguments:
        layout = Layout(Path(directory).absolute())
        if pointer is not None:
            layout.parquet.unlink(missing_ok=True)  # it is only written where measures.json changes, and may be damaged
        state = collect(layout)
        print(status_line(directory, state))
        complete &= state.complete
    if pointer is None:
        return 0
    if complete:
        pointers.emit(pointer, layout.tables)
    return 0 if complete else 1


if __name__ == "__main__":
    entry(main)
