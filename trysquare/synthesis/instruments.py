"""What a reader must know of judges and forms, which measure what no script can."""

from collections.abc import Iterable, Iterator, Mapping

from trysquare.forms.answers import pending_lines
from trysquare.matrix import Matrix
from trysquare.measure import Run, counted
from trysquare.synthesis.model import Evidence
from trysquare.validation.blind import blindness_of, describe_blindness, own_judges


def instrument_warnings(matrix: Matrix, runs: Iterable[Run], evidence: Mapping[str, Evidence]) -> Iterator[str]:
    """Judges that can tell the treatment, are the model under test, or were told several things; forms left open."""
    runs = list(runs)
    if matrix.imported is not None:
        yield (
            f"The measures were imported ({matrix.imported}): trysquare measured none of them. Trials that ended in an "
            "error or were skipped are in no rate, which favours a variant whose failures are errors."
        )
    lines = describe_blindness(blindness_of(matrix), matrix.cells)
    yield from (f"{line.removeprefix('! ')}." for line in [*lines, *own_judges(matrix)] if line.startswith("!"))
    for name, validator in matrix.validators.items():
        if validator.mode == "judge":
            yield from _told(name, runs, evidence)
    for line in pending_lines(matrix, {run.id: run.metrics for run in runs}):
        yield f"{line}: what nobody has answered is in no rate and no median."


def _told(name: str, runs: Iterable[Run], evidence: Mapping[str, Evidence]) -> Iterator[str]:
    found = [archived for run in runs if (archived := evidence.get(run.id)) and name in archived.judges]
    criteria = {each.judges[name][0] for each in found}
    if len(criteria) > 1:
        yield (
            f"The verdicts of {name} were given by {len(criteria)} sets of criteria (rubric, pieces, model): "
            "a gap may be one between them."
        )
    own = sum(each.judges[name][1] in each.models for each in found)
    if own:
        yield f"{name} was answered by the very model it judged in {counted(own, 'run')}."
