"""What is known of two matrices, and what a comparison of them says."""

from collections.abc import Mapping
from dataclasses import dataclass

from trysquare.measure import Run
from trysquare.table import CompareRow


@dataclass(frozen=True)
class Side:
    """One matrix, as a comparison needs it.

    Attributes
    ----------
    name
        What the matrix is called in the comparison.
    standing
        How far it is, in words; empty when it is complete.
    settings
        What it declares, by name, as text.
    cells
        For each declared cell the digests of what it is made of, empty where they are not kept, and `thinking`.
    fingerprints
        What the original tool kept instead: a digest of each cell's declaration.
    validators
        The digest of each validator, None where it is not kept.
    etalon, commits, agents, isolations
        What a comparison rests on; the last three as the records of its runs say, unknown ones left out.
    declared
        The declared metrics, every returned one where no file names them.
    by_cell
        The runs of each cell.
    rehearsed
        Whether a script played the model.
    notes
        What its archive does not hold.
    """

    name: str
    standing: str
    settings: Mapping[str, str]
    cells: Mapping[str, Mapping[str, str]]
    fingerprints: Mapping[str, str]
    validators: Mapping[str, str | None]
    etalon: str
    commits: tuple[str, ...]
    agents: tuple[str, ...]
    isolations: tuple[str, ...]
    declared: tuple[str, ...]
    by_cell: Mapping[str, tuple[Run, ...]]
    rehearsed: bool
    notes: tuple[str, ...]

    @property
    def rows(self) -> list[Run]:
        """Its runs, cell by cell."""
        return [run for runs in self.by_cell.values() for run in runs]


@dataclass(frozen=True)
class Difference:
    """One thing that is declared otherwise on either side."""

    what: str
    left: str
    right: str


@dataclass(frozen=True)
class CostRow:
    """One cell: per column the medians of both sides as text, `-` where there is none."""

    cell: str
    medians: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class Comparison:
    """Two matrices side by side.

    `tests` are the columns of `rows`, `others` the declared metrics that have no rate, with what they are. `costs` is
    empty when the columns are set aside, and `set_aside` says why.
    """

    left: str
    right: str
    rehearsed: bool
    differences: tuple[Difference, ...]
    tests: tuple[str, ...]
    others: Mapping[str, str]
    rows: tuple[CompareRow, ...]
    costs: tuple[CostRow, ...]
    set_aside: str
    notes: tuple[str, ...]
