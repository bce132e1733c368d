"""Scoring one archived run with one validator. Always starts from the archive."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from trysquare import archive, repo, stored, validation, workplace
from trysquare.errors import ArchiveError
from trysquare.files import read_json, write_json, write_text
from trysquare.frozen import decode
from trysquare.layout import Layout, RunLayout, plain
from trysquare.matrix import Matrix, ValidatorPlan

FAILED = 1
"""Exit status of a job whose validator could not judge the run."""


class _Script(NamedTuple):
    mode: str
    metrics: tuple[str, ...]
    config: Mapping[str, str]


def score(layout: Layout, matrix: Matrix, directory: str, name: str, pointer: str) -> int:
    """Run one validator over one archived run, store what it returned, and emit the score pointer.

    `pointer` is the digest in the name of that pointer, with the mark of the launch where it has one.

    Raises
    ------
    ArchiveError, RepoError
        When the plan moved on, or the archive of the run does not give back the tree the agent left.
    """
    run, digest = layout.run(directory), plain(pointer)
    validator = matrix.validators.get(name)
    if validator is None or validator.digest != digest:
        raise ArchiveError(
            f"{layout.plan} does not hold validator '{name}' as {digest}: launch again, the scenario changed."
        )
    archive.refuse_damaged(run)
    with workplace.private(Path(matrix.workdir), f"score-{run.id}-") as work:
        started = time.monotonic()
        result = _validate(layout, matrix, run, validator, work)
        duration = round(time.monotonic() - started, 3)
    write_text(run.stderr(name), result.stderr)
    for older in run.validation.glob(f".{name}.*"):
        older.unlink()
    common = {"validator": name, "digest": digest, "duration": duration, "validator_seconds": result.seconds}
    if result.payload is None:
        _store(run, validator, {**common, "failed": result.detail})
        print(result.stderr, f"{run.id}: {name}: {result.detail}", sep="\n" if result.stderr else "")
        return FAILED
    _store(run, validator, {**result.payload, **common})
    run.previous(name).unlink(missing_ok=True)
    for emitted in {digest, pointer}:
        write_json(run.score_pointer(name, emitted), {"run": run.id})
    return 0


def _store(run: RunLayout, validator: ValidatorPlan, verdict: Mapping[str, Any]) -> None:
    """Put a verdict in place; a good one that is being replaced stays beside it until another good one lands."""
    name = validator.name
    try:
        if "failed" not in stored.verdict(run, validator):
            run.verdict(name).replace(run.previous(name))
    except (FileNotFoundError, ArchiveError):
        pass
    write_json(run.verdict(name), verdict)


def _validate(
    layout: Layout, matrix: Matrix, run: RunLayout, validator: ValidatorPlan, work: Path
) -> validation.Result:
    configuration = read_json(run.configuration)
    if validator.mode == "custom-metrics":
        from trysquare.asserting import assess

        write_context(matrix, run, validator, configuration, None)
        return assess(run, validator, configuration, lambda: rebuild(layout, matrix, run, configuration, work))
    tree = rebuild(layout, matrix, run, configuration, work)
    context = write_context(matrix, run, validator, configuration, tree)
    assert validator.command is not None
    command = repo.materialise(layout.bricks, validator.tree, work / "validator") / validator.command
    runnable = _Script(validator.mode, validator.metrics, {"command": str(command)})
    return validation.run_script(runnable, context, validator.timeout, cwd=work)


def rebuild(layout: Layout, matrix: Matrix, run: RunLayout, configuration: Mapping[str, Any], work: Path) -> Path:
    """The tree an archived run ended with, below `work`.

    Raises
    ------
    RepoError
        When the archive does not give it back.
    """
    return repo.rebuild(
        Path(matrix.source.checkout),
        Path(matrix.workdir),
        layout.bricks,
        decode(repo.Base, configuration["base"]),
        run.patch,
        configuration["tree"],
        configuration["base_tree"],
        work,
        what=f"run {run.id}",
    )


def write_context(
    matrix: Matrix,
    run: RunLayout,
    validator: ValidatorPlan,
    configuration: Mapping[str, Any],
    tree: Path | None,
    directory: Path | None = None,
) -> Path:
    """The context of one validator, in the archive unless a `directory` is given.

    Without a tree it names nothing that only the source repository knows.
    """
    planned = archive.read_record(run)
    checkout = Path(matrix.source.checkout)
    return validation.write_context(
        directory or run.context(validator.name).parent,
        tree,
        matrix.source.etalon,
        checkout,
        run.prompt,
        run.session,
        None,
        planned["cell"],
        planned["repetition"],
        response_file=run.response,
        test_command=matrix.task.test_command,
        prepare=matrix.task.prepare,
        artefacts=matrix.task.artefacts,
        touched=configuration["touched"],
        files=None if tree is None else repo.etalon_files(checkout, matrix.source.commit),
        given=configuration["given"],
        declared=validator.metrics,
        collected=run.collected,
        etalon_commit=matrix.source.commit,
        base_commit=configuration["base_commit"],
    )
