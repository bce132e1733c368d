"""Layer 2: the published verdicts, computed again from the etalon and each run's archived patch."""

import shutil
from collections.abc import Callable, Iterator, Mapping, Set
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError
from trysquare.layout import RunLayout
from trysquare.measure import Run, counted
from trysquare.parity.published import ParityError, archived_runs, published_by_id
from trysquare.parity.report import Report

Reconstitute = Callable[[Path], Path]
"""From the directory of a run to the context that names its tree, made again."""

Validate = Callable[[Path], Mapping[str, Any]]
"""From a context to the metrics that a validator returns."""


def layer2(measures_path: str | Path, archive: str | Path, reconstitute: Reconstitute, validate: Validate) -> Report:
    """Score archived runs again and compare.

    A metric that no run returns is out of scope, for instance a judge's, whose verdict is paid for; it is named once.
    A metric that some runs return and others do not is a validator that cannot be relied on, and blocks.

    Parameters
    ----------
    reconstitute, validate
        Given by the caller, whose the cost of a clone per run is.
    """
    runs = published_by_id(measures_path)
    published = {name: run for name, run in runs.items() if run.state == "valid"}
    found = archived_runs(published, archive)
    report = Report()
    scored: dict[str, Mapping[str, Any]] = {}
    for name, directory in found.items():
        try:
            scored[name] = validate(reconstitute(directory))
        except TrysquareError as error:
            report.problems.append(f"{name} ({published[name].cell}) cannot be scored again: {error}")
    returned = {metric for metrics in scored.values() for metric in metrics}
    known = {metric for run in published.values() for metric in run.metrics}
    differences = {name: _differences(published[name], metrics, returned & known) for name, metrics in scored.items()}
    exact = sum(not lines for lines in differences.values())
    report.problems.extend(line for lines in differences.values() for line in lines)
    report.problems.extend(
        f"{name} ({published[name].cell}): {metric} is returned for other runs and not for this one"
        for name, metrics in scored.items()
        for metric in sorted(returned - known - metrics.keys())
    )
    report.observed.append(f"{exact} of {counted(len(scored), 'run')} give exactly the published metrics")
    report.observed.extend(
        f"{name} is out of scope: no validator returns it for any run" for name in sorted(known - returned)
    )
    report.observed.extend(f"{name} is returned, and was never published" for name in sorted(returned - known))
    if missing := len(runs) - len(found):
        report.observed.append(f"{counted(missing, 'published run')} without a published verdict or a patch to score")
    if not found:
        report.problems.append(f"{archive} holds no patch of a published run: name the archive of these runs")
    return report


def _differences(run: Run, metrics: Mapping[str, Any], shared: Set[str]) -> list[str]:
    """How the metrics of one run differ, of those that were published and are returned at all."""
    found = []
    for name in sorted(shared):
        published, scored = run.metrics.get(name, NOTHING), metrics.get(name, NOTHING)
        if _comparable(published) != _comparable(scored):
            found.append(f"{run.id} ({run.cell}): {name} published {published!r}, scored {scored!r}")
    return found


@contextmanager
def by_scenario(path: Path, published: Mapping[str, Run]) -> Iterator[tuple[Reconstitute, Validate]]:
    """What `layer2` is given to score with the script validators of a scenario, for the length of a block.

    Raises
    ------
    TrysquareError
        When the file is no scenario, or this machine does not have its repository.
    """
    from trysquare.readers import ArchivedRun
    from trysquare.readers.trees import context_of, ground, rebuild_original, verdicts_of

    with ground(path) as prepared:

        def reconstitute(directory: Path) -> Path:
            run = published[directory.name]
            archived = ArchivedRun(run.id, run.cell, run.repetition, run.state, RunLayout(directory), run)
            work = prepared.work / "runs" / run.id
            tree = rebuild_original(prepared, archived, work)
            return context_of(prepared, archived, tree, work / "context")

        def validate(context: Path) -> Mapping[str, Any]:
            work = context.parent.parent
            try:
                results = verdicts_of(prepared, context, work)
            finally:
                shutil.rmtree(work, ignore_errors=True)
            metrics: dict[str, Any] = {}
            for name, result in results.items():
                if result.payload is None:
                    raise ParityError(f"{name}: {result.detail}")
                metrics |= result.payload["metrics"]
            return metrics

        yield reconstitute, validate


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


NOTHING = _Nothing()
"""In the place of a value that is not there."""


def _comparable(value: Any) -> tuple[str, Any]:
    """A value with its type, since 1 is not true; a list of texts is a set that was written down."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return "texts", sorted(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number", value
    return type(value).__name__, value
