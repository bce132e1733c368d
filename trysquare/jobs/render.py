"""The actor of rules render and render_matrix: tables and pages, from stored measures alone."""

from collections.abc import Sequence
from pathlib import Path

from trysquare import pointers
from trysquare.jobs import entry
from trysquare.layout import Layout
from trysquare.outputs.names import cell_dir
from trysquare.rendering import render


def main(arguments: Sequence[str]) -> int:
    """`[--pointer FILE] [--reference CELL] MATRIX...`."""
    pointer, reference = None, ""
    if arguments[:1] == ["--pointer"]:
        pointer, arguments = Path(arguments[1]), arguments[2:]
    if arguments[:1] == ["--reference"]:
        reference, arguments = arguments[1], arguments[2:]
    for directory in arguments:
        layout = Layout(Path(directory).absolute())
        print(render(layout, reference, pointer))
        if pointer is not None:
            pointers.emit(pointer, layout.pages_against(reference and cell_dir(reference)))
    return 0


if __name__ == "__main__":
    entry(main)
