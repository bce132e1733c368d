"""The actor of session_pages and pages: sessions as pages, made by the agent, and the pages of runs around them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from trysquare.files import read_json, write_json
from trysquare.jobs import entry
from trysquare.layout import Layout


def main(arguments: Sequence[str]) -> int:
    """`MATRIX RUN POINTER` for the sessions of one run, or `--runs MATRIX...` for the pages of all runs."""
    if arguments[:1] == ["--runs"]:
        return _runs(arguments[1:])
    from trysquare.pages import export

    matrix, run, pointer = arguments
    layout = Layout(Path(matrix).absolute())
    write_json(pointer, {"broken": export(layout, layout.run(run))})
    return 0


def _runs(matrices: Sequence[str]) -> int:
    """Write the pages of runs again; 1 when a session has none, which does not cost the others theirs."""
    from trysquare.rendering import render

    layouts = [Layout(Path(directory).absolute()) for directory in matrices]
    for layout in layouts:
        print(render(layout))
    broken = [sentence for layout in layouts for sentence in _broken(layout)]
    print(*broken, sep="\n", end="\n" if broken else "")
    return 1 if broken else 0


def _broken(layout: Layout) -> Iterator[str]:
    for pointer in sorted(layout.pages.rglob("exported")):
        if sentences := read_json(pointer)["broken"]:
            pointer.unlink()
            yield from sentences


if __name__ == "__main__":
    entry(main)
