"""What a launch asks the engine for, as names of pointers: what is due is decided by names, never by clocks.

A pointer that is there although what it points to is not, or no longer answers, cannot be asked for: the engine would
find nothing to do. Such a one is asked for under a name that ends in the mark of the launch, which the job writes
beside the plain one, so that the next launch finds everything done.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from trysquare import archive, rounds, stored
from trysquare.errors import ArchiveError
from trysquare.files import digest, digests, read_json, write_json
from trysquare.layout import Layout, RunLayout, plain
from trysquare.matrix import Matrix, RunPlan, ValidatorPlan
from trysquare.outputs.names import cell_dir

FREE_MODES = ("script", "custom-metrics")
"""Validator modes whose verdicts cost nothing, so that the target score may ask for them."""


def answers(run: RunLayout, validator: ValidatorPlan) -> bool:
    """Whether the stored verdict is this validator's and holds every metric it declares."""
    try:
        verdict = stored.verdict(run, validator)
        given = {*verdict["metrics"], *verdict["unjudged"]}
        return bool(verdict["digest"] == validator.digest and given.issuperset(validator.metrics))
    except (FileNotFoundError, ArchiveError, KeyError, TypeError):
        return False


def judged(run: RunLayout, validator: ValidatorPlan) -> bool:
    """Whether the verdict of a judge is bought and where its pointer says, whatever metrics it holds."""
    if rounds.held(run, validator) is None:
        return False
    try:
        return bool(stored.verdict(run, validator).get("digest") == validator.digest)
    except (FileNotFoundError, ArchiveError):
        return False


def _stand(pointer: Path, derived: Sequence[Path]) -> bool:
    """Whether derived files are as the job that wrote their pointer left them."""
    try:
        return bool(read_json(pointer) == digests(derived))
    except (OSError, ArchiveError):
        return False


def emit(pointer: Path, derived: Iterable[Path]) -> None:
    """Write an engine's pointer to derived files, which keeps their digests, and remove the older ones of its kind."""
    kind = pointer.name.rpartition(".")[0]
    for older in pointer.parent.glob(f"{kind}.*"):
        older.unlink()
    for name in {plain(pointer.name), pointer.name}:
        write_json(pointer.with_name(name), digests(derived))


@dataclass(frozen=True)
class Pointers:
    """The pointers of one matrix.

    `carried` maps runs that are about to be carried to the directories they come from; `mark` is eight hexadecimal
    digits that no other launch has. A matrix is `whole` unless somebody removed what a launch froze: a job is due then,
    since the engine calls the hook that freezes only where there is one.
    """

    directory: str
    matrix: Matrix
    mark: str
    carried: Mapping[str, Path] = field(default_factory=dict)
    whole: bool = True

    @cached_property
    def _layout(self) -> Layout:
        return Layout(Path(self.directory))

    def measured(self, run: RunPlan) -> str:
        """The pointer of one run."""
        return f"{self.directory}/runs/{run.directory}/measured.json"

    @property
    def scored(self) -> list[ValidatorPlan]:
        """The validators that jobs answer for; a form is answered by people, in their own time."""
        return [validator for validator in self.matrix.validators.values() if validator.mode != "form"]

    @cached_property
    def scores(self) -> dict[str, tuple[str, ...]]:
        """For each run what its scores are asked for as, in the order of the validators.

        A verdict that comes with a carried run is asked for as the run itself.
        """
        return {
            run.id: tuple(self._score(run, validator) for validator in self.scored) for run in self.matrix.runs.values()
        }

    def _score(self, planned: RunPlan, validator: ValidatorPlan) -> str:
        source = self.carried.get(planned.id)
        run = self._layout.run(planned.directory) if source is None else RunLayout(source)
        there = run.score_pointer(validator.name, validator.digest).exists()
        holds = there and (answers(run, validator) if validator.mode in FREE_MODES else judged(run, validator))
        if source is not None and holds:
            return self.measured(planned)
        name = f"{self.directory}/runs/{planned.directory}/validation/.{validator.name}.{validator.digest}"
        return name if holds or not there else f"{name}-{self.mark}"

    def due(self, run: RunPlan) -> bool:
        """Whether a run lacks its record or one of its verdicts."""
        return not all(Path(name).exists() for name in (self.measured(run), *self.scores[run.id]))

    @cached_property
    def collect(self) -> str:
        """The pointer to measures.json and state.json."""
        return self._ledger(f"collect.{self._collected}", self._layout.tables)

    @cached_property
    def render(self) -> str:
        """The pointer to the synthesis."""
        return self._ledger(f"render.{self._rendered}", self._layout.pages_against())

    def reference(self, cell: str) -> str:
        """The pointer to the synthesis against another reference cell."""
        # The engine takes a long repetition in a name for a loop of its own, so the name of a cell stays out of it.
        name = f"reference_{digest(cell)}.{self._rendered}"
        return self._ledger(name, self._layout.pages_against(cell_dir(cell)))

    def _ledger(self, name: str, derived: Sequence[Path]) -> str:
        pointer = Path(self.directory) / "ledger" / name
        if not pointer.exists() or (self.whole and not self._damaged and _stand(pointer, derived)):
            return str(pointer)
        return f"{pointer}-{self.mark}"

    @cached_property
    def _damaged(self) -> bool:
        """Whether a record is not the one its pointer was written for, which a launch must not pass over."""
        return any(archive.pointer_differs(self._layout.run(run.directory)) for run in self.matrix.runs.values())

    @cached_property
    def _collected(self) -> str:
        validators = [(v.name, v.digest, list(v.metrics)) for v in self.matrix.validators.values()]
        return digest([validators, [(run.id, run.directory) for run in self.matrix.runs.values()]])

    @cached_property
    def _rendered(self) -> str:
        verdict, experiment = self.matrix.verdict, self.matrix.experiment
        said = [experiment.title, experiment.hypothesis, [cell.description for cell in self.matrix.cells.values()]]
        judged = [verdict.criterion, verdict.reference, list(verdict.validity), verdict.draws, verdict.seed]
        return digest([said, judged, self._collected])
