"""Judging one archived run: a verdict is paid for, so it is committed like a measurement and not bought twice."""

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare import archive, history, rounds, spending, stored, validation, workplace
from trysquare.errors import ArchiveError, TrysquareError
from trysquare.files import append_line, read_json, read_lines, write_bytes, write_json, write_text
from trysquare.layout import Layout, RunLayout, plain
from trysquare.matrix import Matrix, ValidatorPlan
from trysquare.scenario import Validator
from trysquare.validation.dossier import judge_dossier, keys, readable
from trysquare.validation.judge import Judgement, Launch, Limits, Setting, call_judge

FAILED = 1
"""Exit status of a job whose judge gave no verdict."""


@dataclass(frozen=True)
class Case:
    """One judge and one run, and the private place they meet in; its name tells nothing of the run."""

    layout: Layout
    matrix: Matrix
    run: RunLayout
    validator: ValidatorPlan
    work: Path

    @property
    def pieces(self) -> dict[str, str]:
        """The text of each piece the judge reads."""
        read = {
            "prompt": lambda: self.run.prompt.read_text(encoding="utf-8"),
            "response": lambda: self.run.response.read_text(encoding="utf-8"),
            "diff": lambda: readable(self.run.patch.read_bytes()),
        }
        return {name: read[name]() for name in self.validator.settings["pieces"]}

    @property
    def judge(self) -> Validator:
        """The validator as it is run."""
        return Validator(self.validator.mode, self.validator.metrics, self.validator.settings)


def judge(layout: Layout, matrix: Matrix, directory: str, pointer: tuple[str, str], *, may_spend: bool) -> int:
    """Have a run judged unless it is judged already, and emit the pointer; returns the job's exit status.

    Parameters
    ----------
    pointer
        The name of the judge and the digest its pointer is asked for with.

    Raises
    ------
    TrysquareError
        When the plan moved on, nothing may be spent, the budget is used up, or the archive of the run is damaged.
    """
    name, digest = pointer
    run, validator = layout.run(directory), matrix.validators.get(name)
    if validator is None or validator.digest != plain(digest):
        raise ArchiveError(
            f"{layout.plan} does not hold judge '{name}' as {digest}: launch again, the scenario changed."
        )
    with archive.locked(layout.lock(f"{run.id}.{name}")):
        _recover(layout, run, name)
        found = rounds.held(run, validator)
        if found is None:
            if not may_spend:
                raise TrysquareError(
                    f"run {run.id} is not judged by {name} yet: only the target `run` may spend; ask for it."
                )
            spending.refuse_over_budget(layout, matrix, "have it judged")
            archive.refuse_damaged(run)
            stored.refuse_occupied(run, name, rounds.of(validator))
            with _case(layout, matrix, run, validator) as case:
                if not _buy(case):
                    return FAILED
            found = rounds.of(validator)
        else:
            print(f"{run.id}: judged by {name} before, kept")
        _settle(run, name, found, digest)
    return 0


@contextmanager
def _case(layout: Layout, matrix: Matrix, run: RunLayout, validator: ValidatorPlan) -> Iterator[Case]:
    with workplace.private(Path(matrix.workdir), "judge-") as work:
        yield Case(layout, matrix, run, validator, work)


def _buy(case: Case) -> bool:
    """Run the judge and commit what it gave; whether that is a verdict."""
    run, name, settings = case.run, case.validator.name, case.validator.settings
    rubric = case.layout.brick(settings["rubric"]).read_text(encoding="utf-8")
    pieces = case.pieces
    room, prompt = judge_dossier(case.work / "dossier", case.judge, rubric, pieces)
    _write_context(case, pieces)
    started = time.monotonic()
    judgement = _call(case, room, prompt)
    duration = round(time.monotonic() - started, 3)
    verdict, last = judgement.result.payload, judgement.launches[-1]
    write_text(run.stderr(name), judgement.result.stderr)
    common = {"validator": name, "digest": case.validator.digest, "duration": duration}
    if verdict is None:
        write_json(run.verdict(name), {**common, "failed": judgement.result.detail})
        print(f"{run.id}: {name}: {judgement.result.detail}")
        return False
    attempts = len(read_lines(run.judge_attempts(name))) + 1
    _commit(case, prompt, last, {**verdict, **common, **_provenance(case, last), "attempts": attempts})
    print(f"{run.id}: judged by {name}, {last.usage['input']} in, {last.usage['output']} out, {duration:.1f} s")
    return True


def _call(case: Case, room: Path, prompt: str) -> Judgement:
    protocol, validator = case.matrix.protocol, case.validator
    limits = Limits(validator.timeout, protocol.attempts, protocol.stream_limit)
    with _provider(case) as provider:
        offered = None if provider is None else provider.models(validator.settings["model"])
        setting = Setting(offered=offered, failed=lambda launch: _keep_attempt(case.run, validator.name, launch))
        return call_judge(case.judge, room, prompt, case.work / "trace.jsonl", limits, setting)


def _provider(case: Case) -> Any:
    """The scripted provider of a rehearsal, playing for the length of a block; nothing for a real judge."""
    if case.matrix.rehearsal is None:
        return nullcontext()
    from trysquare import rehearsal

    record, name = read_json(case.run.record), case.validator.name
    script = case.layout.brick(case.matrix.rehearsal.script).read_text(encoding="utf-8")
    return rehearsal.Provider(
        rehearsal.Script.parse(script),
        record["cell"],
        record["repetition"],
        log=case.layout.requests,
        run=case.run.id,
        judge=name,
        keys=list(keys(case.validator.metrics).values()),
    )


def _write_context(case: Case, pieces: Mapping[str, str]) -> None:
    """Archive what the judge knows: the pieces it reads, under names that tell nothing, and what all cells share."""
    material = {name: case.work / "material" / name for name in pieces}
    for name, path in material.items():
        write_text(path, pieces[name])
    task, source = case.matrix.task, case.matrix.source
    validation.write_context(
        case.run.context(case.validator.name).parent,
        None,
        source.etalon,
        Path(source.checkout),
        material.get("prompt"),
        None,
        None,
        read_json(case.run.record)["cell"],
        read_json(case.run.record)["repetition"],
        blind=True,
        response_file=material.get("response"),
        test_command=task.test_command,
        declared=case.validator.metrics,
        etalon_commit=source.commit,
    )


def _provenance(case: Case, last: Launch) -> dict[str, Any]:
    launch, settings = history.latest(case.layout.launches), case.validator.settings
    known = {
        "round": rounds.of(case.validator),
        "criteria": settings["criteria"],
        "model_id": last.model,
        "usage": dict(last.usage),
        "launch": launch["id"],
        "agent": launch["agent"],
        "harness": launch["harness"],
    }
    return {**known, "rehearsed": True} if case.matrix.rehearsal is not None else known


def _keep_attempt(run: RunLayout, name: str, launch: Launch) -> None:
    lines = run.judge_attempts(name)
    number = len(read_lines(lines)) + 1
    for session in launch.sessions:
        write_bytes(lines.with_suffix("") / f"attempt-{number:02}.jsonl", session.read_bytes())
    said = {"attempt": number, "detail": launch.detail, "usage": dict(launch.usage), "duration": launch.duration}
    append_line(lines, {**said, "at": time.time()})


def _commit(case: Case, prompt: str, last: Launch, verdict: Mapping[str, Any]) -> None:
    """Put a judgement in place by one rename, its verdict written last."""
    run, name = case.run, case.validator.name
    case.layout.incoming.mkdir(parents=True, exist_ok=True)
    stage = Path(tempfile.mkdtemp(dir=case.layout.incoming, prefix=f"judge-{run.id}-{name}-"))
    stage.chmod(0o755)
    write_text(stage / "prompt.md", prompt)
    for session in last.sessions:
        write_bytes(stage / "session" / session.name, session.read_bytes())
    write_json(stage / "verdict.json", verdict)
    _place(stage, run.judgement(name, verdict["round"]))


def _place(stage: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        stage.replace(target)
    except OSError as error:
        raise ArchiveError(
            f"{target} holds files but no verdict.json ({error.strerror}): move them away and launch again; "
            f"the verdict just paid for is kept in {stage}."
        ) from None


def _recover(layout: Layout, run: RunLayout, name: str) -> None:
    """Commit a judgement that a killed job had staged whole; half ones are removed."""
    for stage in layout.incoming.glob(f"judge-{run.id}-{name}-????????"):
        if (stage / "verdict.json").exists():
            target = run.judgement(name, read_json(stage / "verdict.json")["round"])
            if not (target / "verdict.json").exists():
                _place(stage, target)
                continue
        shutil.rmtree(stage, ignore_errors=True)


def _settle(run: RunLayout, name: str, round_: int, digest: str) -> None:
    """Write what derives from a committed judgement: the stored verdict, and the engine's pointer."""
    verdict = stored.judgement(run, name, round_)
    write_json(run.verdict(name), {**verdict, "digest": plain(digest)})
    for pointer in run.validation.glob(f".{name}.*"):
        pointer.unlink()
    for each in {plain(digest), digest}:
        write_json(run.score_pointer(name, each), {"run": run.id})
