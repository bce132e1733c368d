"""What a reader must know beside the numbers: warnings, and how it was measured."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from trysquare import history
from trysquare.matrix import Matrix
from trysquare.measure import Run, counted, tally, valid_runs
from trysquare.synthesis.instruments import instrument_warnings
from trysquare.synthesis.model import Evidence
from trysquare.table import retry_warning
from trysquare.table.measures import ByCell
from trysquare.verdict import MINIMUM, plain

CHOSEN = "whoever chooses what is measured again also chooses what is found."

Launches = Sequence[Mapping[str, Any]]


def warnings(matrix: Matrix, by_cell: ByCell, launches: Launches, evidence: Mapping[str, Evidence]) -> tuple[str, ...]:
    """Every warning that applies, the gravest first."""
    runs = [run for of_cell in by_cell.values() for run in of_cell]
    found = [
        retry_warning(by_cell),
        _cut(by_cell),
        *_few(by_cell, matrix.verdict.validity),
        _unjudged(matrix.verdict.criterion, by_cell),
        _hidden(by_cell, evidence),
        *_models(by_cell, evidence),
        *(f"{_and(names)} are the same configuration: a gap between them is chance." for names in matrix.alike),
        _unstarted(matrix),
        _unpriced(matrix),
        *instrument_warnings(matrix, runs, evidence),
        _several("agent versions", (run.agent_version for run in runs), "the agent is part of what was measured"),
        _several("launches", (run.launch for run in runs), "what else the provider served may differ between them"),
        *_asked_otherwise(matrix, launches, runs),
        *_carried(launches, runs),
        *_discarded(launches),
        *_gone(launches),
        _isolation(runs),
        *(_left_out(cell, of_cell, matrix.verdict.validity) for cell, of_cell in by_cell.items()),
        *(f"{cell} is STALE: the scenario no longer declares it." for cell in by_cell if cell not in matrix.cells),
    ]
    return tuple(warning for warning in found if warning)


def facts(
    matrix: Matrix, by_cell: ByCell, launches: Launches, evidence: Mapping[str, Evidence], reference: str
) -> tuple[tuple[str, str], ...]:
    """Name and value of everything the numbers depend on."""
    runs = [run for of_cell in by_cell.values() for run in of_cell]
    verdict, protocol, source = matrix.verdict, matrix.protocol, matrix.source
    counts = ["its state is valid", *(f"{name} is true" for name in verdict.validity)]
    found = [
        ("agent", _each(f"{matrix.agent.kind} {run.agent_version or 'of unknown version'}" for run in runs)),
        ("model asked for", f"{matrix.agent.provider} / {matrix.agent.model}"),
        ("models that answered", _each(model for run in runs for model in _answered(run, evidence)) or "not recorded"),
        ("code", f"{source.repo} at {source.etalon}"),
        ("commit of the etalon", source.commit),
        ("repetitions", f"{protocol.repetitions} per cell"),
        ("overrides", ", ".join(matrix.overrides) or "none"),
        ("criterion", verdict.criterion),
        ("reference", reference),
        ("a run counts when", " and ".join(counts)),
        ("resampling", f"{plain(verdict.draws)} draws, seed {verdict.seed}"),
        ("isolation", _each(run.isolation or "not recorded" for run in runs)),
        ("validators", ", ".join(f"{name} ({each.mode})" for name, each in matrix.validators.items())),
    ]
    measured = {run.launch for run in runs}
    found += [("launch", _launch(line)) for name, line in history.loads(launches).items() if name in measured]
    return tuple(found)


def _each(values: Iterable[str]) -> str:
    counts = Counter(values)
    if len(counts) == 1:
        return next(iter(counts))
    return ", ".join(f"{value} ({counted(count, 'run')})" for value, count in sorted(counts.items()))


def _answered(run: Run, evidence: Mapping[str, Evidence]) -> tuple[str, ...]:
    return evidence[run.id].models if run.id in evidence else ()


def _launch(line: Mapping[str, Any]) -> str:
    load = f"{line['concurrency']} at a time, {plain(line['timeout'])} s each at most"
    harness = line.get("harness") or {}
    version = f", trysquare {harness['version']}" if harness.get("version") else ""
    return f"{line['started']}, {load}{version}"


def _where(by_cell: ByCell, holds: Callable[[Run], bool]) -> str:
    """The cells with runs of which something holds, and of how many it does; empty when of none."""
    counts = {cell: (sum(map(holds, runs)), len(runs)) for cell, runs in by_cell.items()}
    return ", ".join(f"{cell} ({count} of {total} runs)" for cell, (count, total) in counts.items() if count)


def _cut(by_cell: ByCell) -> str:
    cut = _where(by_cell, lambda run: run.timed_out)
    if not cut:
        return ""
    return (
        f"The time limit cut runs off, in {cut}: each is scored as it was left, and the request it waited for is in no "
        "column, so the tokens, turns, duration and cost of these cells must not be read, nor a gap on either side of "
        "which they are. See whether the provider had gone silent; if it had, measure these cells again."
    )


def _unjudged(criterion: str, by_cell: ByCell) -> str:
    unjudged = _where(by_cell, lambda run: criterion in run.unjudged)
    if not unjudged:
        return ""
    return (
        f"{criterion} could not be judged in {unjudged}: these runs are in none of its gaps. If what keeps it from "
        "being judged also decides whether it holds, the gaps are wrong; the notes of each run say why."
    )


def _hidden(by_cell: ByCell, evidence: Mapping[str, Evidence]) -> str:
    hiding = _where(by_cell, lambda run: run.id in evidence and bool(evidence[run.id].hidden))
    if not hiding:
        return ""
    return (
        f"Ignore rules that the agent made itself hide files it left, in {hiding}: they are in no diff, no validator "
        "saw them, and the notes of each run name them."
    )


def _few(by_cell: ByCell, validity: Sequence[str]) -> list[str]:
    counts = {cell: len(valid_runs(runs, validity)) for cell, runs in by_cell.items()}
    few = ", ".join(f"{cell} ({count})" for cell, count in counts.items() if count < MINIMUM)
    return [f"Fewer than {MINIMUM} runs count in {few}: no gap of these cells can be established."] if few else []


def _models(by_cell: ByCell, evidence: Mapping[str, Evidence]) -> list[str]:
    answered = {cell: {model for run in runs for model in _answered(run, evidence)} for cell, runs in by_cell.items()}
    if len(set().union(*answered.values())) < 2:
        return []
    named = "; ".join(f"{cell}: {', '.join(sorted(models))}" for cell, models in answered.items() if models)
    return [f"More than one model answered ({named}): a gap may be one between models."]


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _unstarted(matrix: Matrix) -> str:
    if not matrix.unstarted:
        return ""
    return (
        f"Agents are injected in {', '.join(matrix.unstarted)}, where no extension brings a tool that starts them: "
        "nothing told the model of them, so their absence was measured."
    )


def _unpriced(matrix: Matrix) -> str:
    cells = ", ".join(name for name, cell in matrix.cells.items() if cell.agents)
    if not cells:
        return ""
    return f"Agents are injected in {cells}, and what these consume is in no column of tokens, turns or cost."


def _several(nouns: str, values: Iterable[str | None], why: str) -> str:
    counts = Counter(value for value in values if value)
    named = ", ".join(f"{value} ({counted(count, 'run')})" for value, count in sorted(counts.items()))
    return f"The runs come from {len(counts)} {nouns}, {named}: {why}." if len(counts) > 1 else ""


def _carried(launches: Launches, runs: Sequence[Run]) -> list[str]:
    return [
        f"{counted(entry['runs'], 'run')} came from {entry['directory']} (n = {entry['repetitions']}), measured "
        f"{entry['concurrency']} at a time: durations and costs of one cell are of more than one session of measuring, "
        "and whoever measures more once results are known finds more than there is."
        for entry in history.carries(launches, {run.id: run.launch for run in runs})
    ]


def _discarded(launches: Launches) -> list[str]:
    return [
        f"{line['cell']} was measured again on {line['started'][:10]}, {counted(len(line['runs']), 'run')} set aside: "
        f"{CHOSEN}"
        for line in history.of_kind(launches, "discard")
        if line["runs"]
    ]


def _gone(launches: Launches) -> list[str]:
    return [
        f"{counted(len(line['runs']), 'run')} of {', '.join(dict.fromkeys(line['runs'].values()))} had been measured, "
        f"was removed from the archive, and was asked for again on {line['started'][:10]}: {CHOSEN}"
        for line in history.of_kind(launches, "gone")
    ]


def _asked_otherwise(matrix: Matrix, launches: Launches, runs: Sequence[Run]) -> list[str]:
    measured, verdict = {run.launch for run in runs}, matrix.verdict
    lines = [line for name, line in history.loads(launches).items() if name in measured and "criterion" in line]
    now = {"criterion": verdict.criterion, "reference": verdict.reference, "validity": list(verdict.validity)}
    before = {name: {_listed(line[name]) for line in lines} - {_listed(value)} for name, value in now.items()}
    return [
        f"The {name} was {' or '.join(sorted(before[name]))} when runs were measured, and is {_listed(value)} now: "
        "what is chosen once results are known finds more than there is."
        for name, value in now.items()
        if before[name]
    ]


def _listed(value: str | Sequence[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "nothing"


def _isolation(runs: Sequence[Run]) -> str:
    bare = sum(run.isolation == "none" for run in runs)
    if not bare:
        return ""
    which = "No run was isolated" if bare == len(runs) else f"{counted(bare, 'run')} of {len(runs)} were not isolated"
    return f"{which}: the agent could read and change what the user who launched it could."


def _left_out(cell: str, runs: Sequence[Run], validity: Sequence[str]) -> str:
    kept = tally(runs, validity)
    return f"{cell}: {kept.sentence()}." if kept.kept < kept.runs else ""
