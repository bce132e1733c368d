"""What a synthesis says, before it is given a form. Numbers are text here, written once for both forms."""

from dataclasses import dataclass, field

from trysquare.plots import Gap, Sample


@dataclass(frozen=True)
class Link:
    """A label and a quoted address relative to the matrix directory; no address where there is no file."""

    label: str
    href: str | None = None


@dataclass(frozen=True)
class Evidence:
    """The files of one archived run.

    `directory` is relative to the matrix, `files` to that directory; `models` are the ids of the models that answered.
    """

    directory: str
    files: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunRow:
    """One run as the drill-down shows it; `values` follow the columns of the synthesis' `run_columns`."""

    id: str
    repetition: int
    state: str
    values: tuple[str, ...]
    remarks: tuple[tuple[str, str], ...]
    links: tuple[Link, ...]
    counted: bool


@dataclass(frozen=True)
class Cell:
    """One configuration: `pieces` follow the synthesis' `aspects`, the parts in which cells differ."""

    name: str
    pieces: tuple[Link, ...]
    description: str
    stale: bool
    reference: bool
    runs: tuple[RunRow, ...]


@dataclass(frozen=True)
class Claim:
    """One gap as something to say, or not to say.

    Attributes
    ----------
    cell, measure : str
        Whose gap it is, and in what, in words.
    relation : str
        The difference in words; it reads on from "a run with <cell>".
    levels : tuple of str
        The level of the cell and of the reference.
    gap, interval : str
        The gap, and its interval in words.
    figures : tuple of str
        p, Holm p and exact p, each with its name.
    cautions : tuple of str
        Sentences a reader must be given together with the claim.
    """

    cell: str
    measure: str
    relation: str
    levels: tuple[str, str]
    gap: str
    interval: str
    figures: tuple[str, ...]
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One entry of a table: `state` is established, inconclusive or, for what carries none, empty."""

    text: str
    state: str = ""
    detail: str = ""
    caution: bool = False

    @property
    def mark(self) -> str:
        """`*` established, `o` inconclusive."""
        return {"established": "*", "inconclusive": "o"}.get(self.state, "")


@dataclass(frozen=True)
class Line:
    """A cell's line of a table."""

    cell: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True)
class Table:
    """Cells in lines, and what has to be said under the table."""

    columns: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """The two pictures of one measure, as data; `rate` says that its values are yes and no."""

    measure: str
    title: str
    rate: bool
    gaps: tuple[Gap, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Synthesis:
    """Everything the synthesis of one complete matrix says; `markdown` and `page` only give it a form."""

    name: str
    title: str
    hypothesis: tuple[str, ...]
    rehearsed: bool
    reference: str
    criterion: str
    repetitions: int
    draws: int
    seed: int
    aspects: tuple[str, ...]
    cells: tuple[Cell, ...]
    tested: int
    said: tuple[Claim, ...]
    withheld: tuple[Claim, ...]
    unsaid: tuple[Claim, ...]
    scores: Table
    costs: Table
    gaps: Table
    panels: tuple[Panel, ...]
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    run_columns: tuple[str, ...]
    files: tuple[Link, ...] = field(default=())

    @property
    def runs(self) -> int:
        """How many runs are behind it."""
        return sum(len(cell.runs) for cell in self.cells)
