"""What a synthesis says, before it is given a form. Numbers are text here, written once for both forms."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from trysquare.plots import Gap, Sample
from trysquare.table import GapRow, Measure, ScoreRow, SpendRow


@dataclass(frozen=True)
class Link:
    """A label and a quoted address relative to the matrix directory; no address where there is no file."""

    label: str
    href: str | None = None


@dataclass(frozen=True)
class Evidence:
    """The files of one archived run.

    `directory` is relative to the matrix, `files` to that directory; `models` are the ids of the models that answered.
    `judges` has for each judge the digest of its criteria and the id of the model that answered. `hidden` are the files
    that only ignore rules of the agent's own kept out of the diff. `page` is the address of the run's own page.
    """

    directory: str
    files: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    judges: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    page: str | None = None


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
    column : str
        The name of that measure in the tables.
    relation : str
        The difference in words; it reads on from "with <cell>," and on to "than with <reference>".
    levels : tuple of str
        The level of the cell and of the reference.
    gap, interval : str
        The gap, and its interval in words.
    figures : tuple of str
        p, Holm p and exact p, each with its name; none where nothing could be judged.
    finding : str
        All of it on one line, without words.
    cautions : tuple of str
        Sentences a reader must be given together with the claim.
    """

    cell: str
    measure: str
    column: str
    relation: str
    levels: tuple[str, str]
    gap: str
    interval: str
    figures: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    finding: str = ""


@dataclass(frozen=True)
class Panel:
    """The two pictures of one measure, as data; `rate` says that its values are yes and no."""

    measure: Measure
    title: str
    rate: bool
    gaps: tuple[Gap, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class Tables:
    """The rows of the three tables, and of the one of declared numbers.

    `tests` are the declared metrics that are yes or no, `others` the other ones with what they are; `numbers`, `levels`
    and `measures` are the columns of the tables of numbers, of costs and of gaps.
    """

    tests: tuple[str, ...]
    others: Mapping[str, str]
    numbers: tuple[Measure, ...]
    levels: tuple[Measure, ...]
    measures: tuple[Measure, ...]
    scores: tuple[ScoreRow, ...]
    medians: tuple[SpendRow, ...]
    costs: tuple[SpendRow, ...]
    gaps: tuple[GapRow, ...]


@dataclass(frozen=True)
class Synthesis:
    """Everything the synthesis of one complete matrix says; `markdown` and `page` only give it a form.

    `hypothesis` is markdown; `validity` names the metrics that must be true where a run counts; `prompt` is the one
    every cell was given, if there is one; `aspects` are the parts of the task in which the cells differ; `said` are the
    established gaps, `withheld` those of them that must not be quoted, `unsaid` the rest.
    """

    name: str
    title: str
    hypothesis: str
    rehearsed: bool
    reference: str
    criterion: str
    validity: tuple[str, ...]
    repetitions: int
    draws: int
    seed: int
    prompt: Link | None
    aspects: tuple[str, ...]
    cells: tuple[Cell, ...]
    said: tuple[Claim, ...]
    withheld: tuple[Claim, ...]
    unsaid: tuple[Claim, ...]
    tables: Tables
    panels: tuple[Panel, ...]
    warnings: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    run_columns: tuple[str, ...]

    @property
    def runs(self) -> int:
        """How many runs are behind it."""
        return sum(len(cell.runs) for cell in self.cells)

    @property
    def tested(self) -> int:
        """How many gaps were judged side by side."""
        return len(self.said) + len(self.withheld) + sum(bool(claim.figures) for claim in self.unsaid)
