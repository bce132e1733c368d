"""The actor of rules form and ingest: the forms of a matrix, written or taken."""

from collections.abc import Sequence
from pathlib import Path

from trysquare.forms.acts import ask, take
from trysquare.jobs import entry
from trysquare.layout import Layout


def main(arguments: Sequence[str]) -> int:
    """`[--ingest] MATRIX...`: an answer that is refused is a failure, after the others were taken."""
    taking = arguments[:1] == ["--ingest"]
    sound = True
    for directory in arguments[taking:]:
        layout = Layout(Path(directory).absolute())
        said, taken = take(layout) if taking else (ask(layout), True)
        print("\n".join(said))
        sound &= taken
    return 0 if sound else 1


if __name__ == "__main__":
    entry(main)
