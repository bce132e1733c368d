"""From stored measures to a synthesis."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from trysquare.matrix import Matrix
from trysquare.measure import Run, metric_kind, valid_runs
from trysquare.plots import Gap, Sample
from trysquare.synthesis.asked import aspects, pieces, prompt
from trysquare.synthesis.barring import Bars
from trysquare.synthesis.caveats import Launches, facts, warnings
from trysquare.synthesis.claims import claims, level, words
from trysquare.synthesis.model import Cell, Evidence, Link, Panel, RunRow, Synthesis, Tables
from trysquare.synthesis.runs import columns, run_row
from trysquare.table import (
    Measure,
    aligned,
    cost_measures,
    criterion_measure,
    criterion_values,
    gap_rows,
    group,
    number_measures,
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
    verdict, experiment = matrix.verdict, matrix.experiment
    reference = verdict.reference if reference is None else reference
    by_cell = group(rows, tuple(matrix.cells))
    tables = _tables(matrix, by_cell, reference)
    bars = Bars.of(matrix, by_cell, evidence or {}, reference)
    sorted_claims = claims(tables.gaps, tables.measures, by_cell, verdict.validity, bars)
    barred = {(claim.cell, claim.column) for claim in sorted_claims.withheld}
    archived = evidence or {}
    shown = columns([name for name in matrix.declared if metric_kind(rows, name) != "diagnostic"], rows)
    return Synthesis(
        name=experiment.name,
        title=experiment.title,
        hypothesis=(experiment.hypothesis or "").strip(),
        rehearsed=matrix.rehearsal is not None or any(run.rehearsed for run in rows),
        reference=reference,
        criterion=verdict.criterion,
        validity=verdict.validity,
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
        tables=tables,
        panels=_panels(tables, by_cell, verdict.validity, barred),
        warnings=warnings(matrix, by_cell, launches, archived),
        facts=facts(matrix, by_cell, launches, archived, reference),
        run_columns=tuple(shown),
    )


def unlinked(s: Synthesis) -> Synthesis:
    """The same synthesis with no link to a file, for a page that is read away from its matrix directory."""
    cells = (
        replace(
            cell,
            pieces=tuple(Link(piece.label) for piece in cell.pieces),
            runs=tuple(replace(row, links=()) for row in cell.runs),
        )
        for cell in s.cells
    )
    return replace(s, prompt=s.prompt and Link(s.prompt.label), cells=tuple(cells))


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


def _tables(matrix: Matrix, by_cell: ByCell, reference: str) -> Tables:
    verdict = matrix.verdict
    rows = [run for runs in by_cell.values() for run in runs]
    criterion = criterion_measure(verdict.criterion, criterion_values(by_cell, verdict.criterion))
    measures = (*cost_measures(), criterion)
    levels = spend_measures(rows)
    tests, others = scored_metrics(rows, matrix.declared)
    numbers = number_measures([name for name in others if metric_kind(rows, name) == "median"])
    drawn = (verdict.validity, (), verdict.draws, verdict.seed)
    medians = spend_rows(by_cell, numbers, *drawn)
    return Tables(
        tests=tuple(tests),
        others={name: KINDS[metric_kind(rows, name)] for name in others},
        numbers=tuple(aligned(each, medians) for each in numbers),
        levels=levels,
        measures=measures,
        scores=tuple(score_rows(by_cell, tests)),
        medians=tuple(medians),
        costs=tuple(spend_rows(by_cell, levels, *drawn)),
        gaps=tuple(gap_rows(by_cell, reference, measures, verdict.validity, verdict.draws, verdict.seed)),
    )


def _panels(
    tables: Tables, by_cell: ByCell, validity: Sequence[str], withheld: Set[tuple[str, str]]
) -> tuple[Panel, ...]:
    """The pictures of every measure, the criterion before the costs."""
    kept = {cell: valid_runs(runs, validity) for cell, runs in by_cell.items()}
    *costs, criterion = tables.measures
    panels = []
    for measure in (criterion, *costs):
        verdicts = [(row.cell, row.cases[measure.name]) for row in tables.gaps]
        title = words(measure, measure is not criterion)[0]
        panels.append(
            Panel(
                measure=measure,
                title=f"{title} (s)" if title == "duration" else title,
                rate=measure.stat is mean,
                gaps=tuple(
                    Gap(cell, v.gap, v.low, v.high, v.established, quotable=(cell, measure.name) not in withheld)
                    for cell, v in verdicts
                    if v is not None
                ),
                samples=tuple(_sample(cell, runs, measure) for cell, runs in kept.items()),
            )
        )
    return tuple(panels)


def _sample(cell: str, runs: Sequence[Run], measure: Measure) -> Sample:
    judged = [(value, run) for run in runs if (value := measure.extract(run)) is not None]
    values = tuple(value for value, _ in judged)
    return Sample(cell, values, tuple(run.disturbed for _, run in judged), level(measure, values))
