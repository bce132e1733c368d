"""Why an established gap must not be quoted all the same: what is behind its runs is no difference of the cells."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from trysquare.matrix import Matrix
from trysquare.measure import Run, valid_runs
from trysquare.synthesis.model import Evidence
from trysquare.table.measures import ByCell

DISTURBED = "runs behind it were retried or cut off by the time limit, so it says something of the provider"


@dataclass(frozen=True)
class Bars:
    """What is known of the runs of every cell that count, beside their measures."""

    matrix: Matrix
    by_cell: Mapping[str, tuple[Run, ...]]
    evidence: Mapping[str, Evidence]
    reference: str

    @classmethod
    def of(cls, matrix: Matrix, by_cell: ByCell, evidence: Mapping[str, Evidence], reference: str) -> "Bars":
        """The bars of a matrix whose cells are compared with one of them."""
        counted = {cell: tuple(valid_runs(runs, matrix.verdict.validity)) for cell, runs in by_cell.items()}
        return cls(matrix, counted, evidence, reference)

    def against(self, cell: str, *, cost: bool) -> tuple[str, ...]:
        """Every reason not to quote a gap of a cell, in a cost or in the criterion; none when it may be quoted."""
        pair = (self.by_cell[cell], self.by_cell[self.reference])
        found = [DISTURBED] if cost and any(run.disturbed for runs in pair for run in runs) else []
        names = (*self.matrix.verdict.validity, *(() if cost else (self.matrix.verdict.criterion,)))
        for judge in self._judges(names):
            sets = self._known(pair, partial(_criteria, judge))
            if len(sets[0] | sets[1]) > 1:
                found.append(f"{judge} judged these runs by several sets of criteria: rejudge them by one")
        models = self._known(pair, lambda archived: archived.models)
        if all(models) and not models[0] & models[1]:
            found.append(f"other models answered here ({_sorted(models[0])}) than there ({_sorted(models[1])})")
        return tuple(found)

    def _judges(self, metrics: Sequence[str]) -> list[str]:
        """The judges that give any of these metrics."""
        validators = self.matrix.validators.items()
        return [name for name, each in validators if each.mode == "judge" and not set(metrics).isdisjoint(each.metrics)]

    def _known(
        self, pair: Sequence[Sequence[Run]], part: Callable[[Evidence], Sequence[str]]
    ) -> tuple[frozenset[str], ...]:
        """What the archives of either side say, empty values aside."""
        archives = ([self.evidence[run.id] for run in runs if run.id in self.evidence] for runs in pair)
        return tuple(frozenset(filter(None, (x for each in side for x in part(each)))) for side in archives)


def _criteria(judge: str, archived: Evidence) -> tuple[str, ...]:
    return (archived.judges[judge][0],) if judge in archived.judges else ()


def _sorted(names: frozenset[str]) -> str:
    return ", ".join(sorted(names))
