"""What a launch says about what is on disk already, and about how blind its judges are."""

import re
import shutil

from trysquare.errors import ArchiveError
from trysquare.files import read_json
from trysquare.matrix import Matrix, Task
from trysquare.measure.stream import counted, first_few
from trysquare.outputs import Carried, archived_run_dirs, matrices, measures_in
from trysquare.refusals import listed, show
from trysquare.runner.plan import Plan
from trysquare.scenario import split_command
from trysquare.validation.blind import blindness_of, describe_blindness, own_judges


def drift_notes(plan: Plan) -> list[str]:
    """What the scenario and the directory disagree about: cells that came, and cells that went."""
    held = _held(plan)
    notes = []
    for cell, count in held.items():
        if cell not in plan.matrix.cells:
            runs = counted(count, "run")
            notes.append(f"STALE: the scenario no longer declares {show(cell)}; its {runs} stay in every table")
    if held:
        added = [name for name in plan.matrix.cells if name not in held and name not in _planned_before(plan)]
        if added:
            notes.append(f"ADDED: {listed(added)}; the runs of the other cells are kept")
    return notes


def gone_note(plan: Plan) -> list[str]:
    """What a launch froze and somebody removed since, and that the target `run` writes it again."""
    layout = plan.output
    if not archived_run_dirs(plan.directory):
        return []
    try:
        frozen = layout.plan.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return [
            f"GONE: {layout.plan} was removed; `run` writes it again from the scenario as it is now, "
            "and measures nothing twice"
        ]
    gone = [name for name in plan.bricks if name in frozen and not layout.brick(name).exists()]
    if not gone:
        return []
    files = counted(len(gone), "frozen file")
    return [f"GONE: {files} of {layout.bricks} were removed, which scoring reads; `run` writes them again"]


def measured_before(plan: Plan) -> dict[str, str]:
    """The runs to perform that the last measures.json holds, with their cells: somebody removed their directories."""
    again = {run.id for run in plan.todo if run.cell not in plan.replay}
    try:
        rows = measures_in(plan.directory) if again else []
    except ArchiveError:
        return {}
    return {row["id"]: row["cell"] for row in rows if row["id"] in again and row["state"] != "empty"}


def bought_note(plan: Plan) -> list[str]:
    """What a launch says of runs it is to pay for though they were paid for before."""
    again = "played again" if plan.matrix.rehearsal else "measured, and paid for, again"
    notes = []
    if gone := measured_before(plan):
        notes.append(
            f"GONE: {counted(len(gone), 'run')} of {plan.directory} ({first_few(list(gone))}) had been measured, and "
            f"the directory was removed: put it back, or it is {again}"
        )
    for count, path in matrices(plan.directory.parent, plan.scenario).items() if plan.todo else ():
        held = {tree.name for tree in archived_run_dirs(path)} if count > plan.matrix.protocol.repetitions else set()
        if there := sum(run.id in held for run in plan.todo):
            notes.append(
                f"LARGER: {path} holds {there} of the runs to perform; a smaller matrix takes none from a larger one, "
                f"so they are {again}: launch with {count} repetitions to read what is there"
            )
    return notes


def available_note(carried: Carried | None, extend: bool = False) -> list[str]:
    """What a launch says of the runs that a smaller matrix holds: that it carries them, or could."""
    if carried is None:
        return []
    if extend:
        return [f"CARRIED: {len(carried.entries)} runs come from {carried.directory} and cost nothing"]
    count = f"{len(carried.entries)} of these runs are in {carried.directory} already"
    if carried.mismatch:
        return [f"AVAILABLE: {count}, but {'; '.join(carried.mismatch)}: they cannot be carried"]
    return [f"AVAILABLE: {count}; extend=true carries them instead of paying again"]


def same_notes(matrix: Matrix) -> list[str]:
    """What a launch says of cells that are one configuration by several names."""
    return [f"SAME: {listed(names)} are the same configuration: a gap between them is chance" for names in matrix.alike]


def command_notes(task: Task) -> list[str]:
    """What a launch says of commands that this machine could not start; another one may score."""
    commands = [("test_command", task.test_command), *(("prepare", command) for command in task.prepare or ())]
    notes = []
    for name, command in commands:
        word = split_command(command)[0] if command else ""
        if re.match(r"[A-Za-z_]\w*=", word):
            notes.append(
                f"COMMAND: [task] {name}: {show(word)} is an assignment, which only a shell makes: begin with env"
            )
        elif word and (word.startswith("/") or "/" not in word) and shutil.which(word) is None:
            notes.append(
                f"COMMAND: [task] {name}: there is no program {show(word)} on this machine, so nothing would judge"
            )
    return notes


def _held(plan: Plan) -> dict[str, int]:
    """How many recorded runs each cell has; the record is read only for runs this plan does not declare."""
    counts: dict[str, int] = {}
    for directory in archived_run_dirs(plan.directory):
        planned = plan.matrix.runs.get(directory.name)
        try:
            cell = planned.cell if planned else str(read_json(directory / "run.json")["cell"])
        except (FileNotFoundError, ArchiveError, KeyError, TypeError):
            continue
        if planned is None or (directory / "run.json").exists():
            counts[cell] = counts.get(cell, 0) + 1
    return counts


def _planned_before(plan: Plan) -> set[str]:
    try:
        return set(Matrix.load(plan.output.plan).cells)
    except ArchiveError:
        return set()


def blindness(matrix: Matrix) -> tuple[str, ...]:
    """How blind each judge is, and a warning for each that is the model under test."""
    return (*describe_blindness(blindness_of(matrix), matrix.cells), *own_judges(matrix))
