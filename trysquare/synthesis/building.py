"""From stored measures to a synthesis."""

from collections.abc import Mapping, Sequence

from trysquare.matrix import Matrix
from trysquare.measure import Run, metric_kind, valid_runs
from trysquare.plots import Gap, Sample
from trysquare.synthesis.asked import aspects, pieces, prompt
from trysquare.synthesis.caveats import Launches, facts, warnings
from trysquare.synthesis.claims import claims, level, words
from trysquare.synthesis.model import Cell, Evidence, Panel, RunRow, Synthesis
from trysquare.synthesis.runs import columns, run_row
from trysquare.table import (
    GapRow,
    Measure,
    cost_measures,
    criterion_measure,
    criterion_values,
    gap_rows,
    group,
    score_rows,
    scored_metrics,
    spend_measures,
    spend_rows,
)
from trysquare.table.measures import ByCell
from trysquare.verdict import mean

KINDS = {"median": "a number", "diagnostic": "diagnostic", "rate": "yes or no", None: "never judged"}


def build(
    matrix: Matrix,
    rows: Sequence[Run],
    launches: Launches = (),
    reference: str | None = None,
    evidence: Mapping[str, Evidence] | None = None,
) -> Synthesis:
    """Everything the synthesis of a complete matrix says.

    Parameters
    ----------
    matrix : Matrix
        The frozen plan.
    rows : sequence of Run
        The rows of measures.json, in any order.
    launches : sequence of mappings
        The lines of launches.jsonl.
    reference : str, optional
        The cell to compare with, when it is not the declared one.
    evidence : mapping of run id to Evidence, optional
        What `gather` found in the matrix directory. Without it a run is linked to the files it should have, and the
        models that answered are not known.

    Raises
    ------
    VerdictError
        When there is no such reference, it has no run that counts, or the criterion has values of several types.
    """
    verdict = matrix.verdict
    reference = verdict.reference if reference is None else reference
    by_cell = group(rows, tuple(matrix.cells))
    measures = (*cost_measures(), criterion_measure(verdict.criterion, criterion_values(by_cell, verdict.criterion)))
    gaps = gap_rows(by_cell, reference, measures, verdict.validity, verdict.draws, verdict.seed)
    sorted_claims = claims(gaps, measures, by_cell, reference, verdict.validity)
    tests, others = scored_metrics(rows, matrix.declared)
    levels = spend_measures(rows)
    archived = dict(evidence or {})
    shown = columns([name for name in matrix.declared if metric_kind(rows, name) != "diagnostic"], rows)
    return Synthesis(
        name=matrix.experiment.name,
        title=matrix.experiment.title,
        hypothesis=_paragraphs(matrix.experiment.hypothesis or ""),
        rehearsed=matrix.rehearsal is not None or any(run.rehearsed for run in rows),
        reference=reference,
        criterion=verdict.criterion,
        repetitions=matrix.protocol.repetitions,
        draws=verdict.draws,
        seed=verdict.seed,
        prompt=prompt(matrix),
        aspects=aspects(matrix),
        cells=tuple(
            _cell(matrix, cell, [run_row(matrix, run, shown, archived.get(run.id)) for run in runs], reference)
            for cell, runs in by_cell.items()
        ),
        said=sorted_claims.said,
        withheld=sorted_claims.withheld,
        unsaid=sorted_claims.unsaid,
        tests=tuple(tests),
        others={name: KINDS[metric_kind(rows, name)] for name in others},
        levels=levels,
        measures=measures,
        scores=tuple(score_rows(by_cell, tests)),
        costs=tuple(spend_rows(by_cell, levels, verdict.validity, (), verdict.draws, verdict.seed)),
        gaps=tuple(gaps),
        panels=tuple(
            _panel(measure, measure is not measures[-1], gaps, by_cell, verdict.validity)
            for measure in (measures[-1], *measures[:-1])
        ),
        warnings=warnings(matrix, by_cell, launches, archived),
        facts=facts(matrix, by_cell, launches, archived, reference),
        run_columns=tuple(shown),
    )


def incomplete_note(counts: Mapping[str, int], command: str) -> str:
    """One line in place of the synthesis of an incomplete matrix.

    Parameters
    ----------
    counts : mapping of state to number of runs
        States that are `missing`, `empty`, `validator_failed` or `valid`.
    command : str
        What completes it.
    """
    labels = {"missing": "missing", "empty": "empty", "validator_failed": "failed by a validator"}
    parts = [f"{counts[state]} {label}" for state, label in labels.items() if counts.get(state)]
    total = sum(counts.values())
    return f"Incomplete, so no synthesis: {', '.join(parts)} of {total} runs; `{command}` completes it."


def _paragraphs(text: str) -> tuple[str, ...]:
    blocks = (block.strip().lstrip("#").strip() for block in text.split("\n\n"))
    return tuple(block for block in blocks if block)


def _cell(matrix: Matrix, name: str, rows: Sequence[RunRow], reference: str) -> Cell:
    plan = matrix.cells.get(name)
    return Cell(
        name=name,
        pieces=pieces(matrix, name),
        description=" ".join(plan.description.split()) if plan else "",
        stale=plan is None,
        reference=name == reference,
        runs=tuple(rows),
    )


def _panel(measure: Measure, cost: bool, gaps: Sequence[GapRow], by_cell: ByCell, validity: Sequence[str]) -> Panel:
    verdicts = [(row.cell, row.cases[measure.name]) for row in gaps]
    return Panel(
        measure=measure,
        title=words(measure, cost)[0] + (" (s)" if cost and measure.name == "duration" else ""),
        rate=measure.stat is mean,
        gaps=tuple(Gap(cell, v.gap, v.low, v.high, v.established) for cell, v in verdicts if v is not None),
        samples=tuple(_sample(cell, valid_runs(runs, validity), measure) for cell, runs in by_cell.items()),
    )


def _sample(cell: str, runs: Sequence[Run], measure: Measure) -> Sample:
    judged = [(value, run) for run in runs if (value := measure.extract(run)) is not None]
    values = tuple(value for value, _ in judged)
    return Sample(cell, values, tuple(bool(run.usage.get("retries")) for _, run in judged), level(measure, values))
