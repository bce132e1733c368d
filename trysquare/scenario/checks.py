"""Rules between the sections of a scenario, each with its own refusal."""

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from trysquare.outputs.names import cell_dir, slug
from trysquare.refusals import Refusals, closest, key, listed, show
from trysquare.scenario.cells import JOIN, blocks
from trysquare.scenario.commands import ScenarioError, split_command
from trysquare.scenario.language import Brick, CustomMetrics, ScenarioFile, Validation
from trysquare.scenario.model import Cell
from trysquare.scenario.paths import REPOSITORY, is_path

NAME_BYTES = 200
"""Bytes the name of one directory may have."""

ARGUMENT_BYTES = 120_000
"""Bytes of a prompt: it is one argument of the agent's command line, which the system bounds."""

MOST_RUNS = 100_000
"""Runs one experiment may have; run ids have 32 bits."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def check(file: ScenarioFile, cells: Sequence[Cell], name: str, refusals: Refusals) -> None:
    """Note everything that the valid sections get wrong together."""
    _check_sections(file, refusals)
    _check_task(file, refusals)
    _check_agent(file, refusals)
    _check_texts(file, refusals)
    _check_bricks(file, refusals)
    _check_cells(cells, refusals)
    _check_experiment(file, cells, name, refusals)
    _check_validation(file, refusals)
    _check_verdict(file, cells, refusals)


def _check_sections(file: ScenarioFile, refusals: Refusals) -> None:
    wanted = {
        "task": "[task] with repo, etalon and prompt",
        "agent": "[agent] with provider, model and thinking",
        "protocol": "[protocol] with repetitions",
        "validation": "[[validation]] with mode and metrics",
        "verdict": "[verdict] with criterion and reference",
    }
    for section, remedy in wanted.items():
        broken = any(f": [{section}]" in problem or f": [[{section}]]" in problem for problem in refusals.problems)
        if not broken and not getattr(file, section):
            refusals.add(f"[{section}]", f"missing; write {remedy}.")


def _check_task(file: ScenarioFile, refusals: Refusals) -> None:
    task = file.task
    if task is None:
        return
    if "/" in task.repo or "~" in task.repo:
        refusals.add(
            "[task] repo",
            f"found {show(task.repo)}, which is a path; write a logical name here and its directory under [repos] of "
            "trysquare.toml.",
        )
    _check_word("[task] repo", task.repo, refusals)
    _check_etalon(task.etalon, refusals)
    for name, commands in (("test_command", (task.test_command,)), ("prepare", task.prepare or ())):
        for command in commands:
            if command is not None:
                _check_command(f"[task] {name}", command, refusals)
    for name, patterns in (("artefacts", task.artefacts or ()), ("collect", task.collect)):
        for pattern in patterns:
            _check_pattern(f"[task] {name}", pattern, refusals)


def _check_command(where: str, command: str, refusals: Refusals) -> None:
    try:
        split_command(command)
    except ScenarioError as error:
        refusals.add(where, str(error))


def _check_etalon(etalon: str, refusals: Refusals) -> None:
    where = "[task] etalon"
    if re.fullmatch(r"[0-9A-F]{40}|[0-9A-Fa-f]{40}", etalon) and etalon != etalon.lower():
        refusals.add(where, f"found {show(etalon)}; write the commit in lower case.")
    elif re.search(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|^[-/.]|//|/\.|@\{|/$|\.$|\.lock$", etalon):
        refusals.add(where, f"found {show(etalon)}, which cannot be the name of a tag; write a tag, or a full commit.")


def _check_word(where: str, value: str, refusals: Refusals) -> None:
    """A value that becomes an argument or a part of a directory name."""
    if CONTROL.search(value) or value.startswith("-") or value.strip() != value:
        refusals.add(
            where, f"found {show(value)}; write it without a leading dash, outer spaces and control characters."
        )


def _check_pattern(where: str, pattern: str, refusals: Refusals) -> None:
    if CONTROL.search(pattern) or pattern.startswith("/") or ".." in PurePosixPath(pattern).parts:
        refusals.add(where, f"found {show(pattern)}; write a glob pattern relative to the tree, without `..`.")


def _check_agent(file: ScenarioFile, refusals: Refusals) -> None:
    if file.agent is None:
        return
    for name in ("provider", "model"):
        _check_word(f"[agent] {name}", file.agent[name], refusals)
    if file.agent.image is not None:
        refusals.add("[agent] image", "containers are not available yet; remove the key.")


def _check_texts(file: ScenarioFile, refusals: Refusals) -> None:
    texts = [("[task]", "prompt", file.task.prompt)] if file.task is not None else []
    for where, lines in blocks(file):
        texts += [(where, name, getattr(lines, name)) for name in ("prompt", "context", "system")]
    for where, name, text in texts:
        if text is None or is_path(text):
            continue
        if not text.strip():
            refusals.add(f"{where} {name}", "is empty; write the text, or remove the key.")
        if "\0" in text:
            refusals.add(f"{where} {name}", "contains a NUL character; remove it.")
        if name == "prompt" and len(text.encode()) > ARGUMENT_BYTES:
            refusals.add(f"{where} {name}", f"has more than {ARGUMENT_BYTES} bytes; put material into a files brick.")
        if text.startswith("@") and " " not in text.strip() and not (name == "context" and text == REPOSITORY):
            near = closest(text, [REPOSITORY]) if name == "context" else ""
            refusals.add(f"{where} {name}", f"found {show(text)}{near}, which is no text; write a text or a path.")


def _check_bricks(file: ScenarioFile, refusals: Refusals) -> None:
    for name, brick in file.harness.items():
        where = f"[harness.{key(name)}]"
        _check_word(where, name, refusals)
        _check_form(where, brick, refusals)
        for destination in brick.files or {}:
            _check_destination(f"{where} files", destination, refusals)
    for where, lines in blocks(file):
        for name in lines.harness or ():
            if name not in file.harness:
                known = f"the bricks are {listed(file.harness)}" if file.harness else "no brick is declared"
                refusals.add(
                    f"{where} harness",
                    f"unknown brick {show(name)}{closest(name, file.harness)}; {known}: define [harness.{key(name)}].",
                )


FORMS = {
    "a pinned repository": {"repo", "tag", "load"},
    "an extension": {"load"},
    "paths": {"paths", "kind", "model"},
    "files": {"files", "kind"},
}
"""The keys each form of a brick may have."""


def _check_form(where: str, brick: Brick, refusals: Refusals) -> None:
    given = {name for name in type(brick).model_fields if getattr(brick, name) is not None}
    if given & {"repo", "tag"}:
        form, needed = "a pinned repository", {"repo", "tag", "load"}
    elif brick.kind == "files" or "files" in given:
        form, needed = "files", {"files", "kind"}
    elif given & {"paths", "kind", "model"}:
        form, needed = "paths", {"paths"}
    elif "load" in given:
        form, needed = "an extension", {"load"}
    else:
        refusals.add(where, "is empty; write repo, tag and load, or load, or paths, or kind = \"files\" and files.")
        return
    for absent in sorted(needed - given):
        remedy = 'kind = "files"' if absent == "kind" else absent
        refusals.add(where, f"a brick of {form} also needs {absent}; write {remedy}.")
    for extra in sorted(given - FORMS[form]):
        refusals.add(where, f"{extra} means nothing in a brick of {form}; remove it, or make it a brick of its own.")
    if form == "files" and brick.kind not in (None, "files"):
        refusals.add(where, f'kind is {show(brick.kind)} but files are given; write kind = "files".')
    if form == "paths" and brick.paths == ():
        refusals.add(f"{where} paths", "is empty; list a file or a directory.")
    if form == "files" and brick.files == {}:
        refusals.add(f"{where} files", 'is empty; write "destination" = "source".')
    if form == "a pinned repository":
        _check_pinned(where, brick, refusals)


def _check_pinned(where: str, brick: Brick, refusals: Refusals) -> None:
    if brick.repo is not None and ("/" in brick.repo or "~" in brick.repo):
        refusals.add(f"{where} repo", f"found {show(brick.repo)}, a path; write its name under [harness] of trysquare.toml.")
    if brick.tag is not None:
        _check_word(f"{where} tag", brick.tag, refusals)
    if brick.load is not None and _escapes(brick.load):
        refusals.add(f"{where} load", f"found {show(brick.load)}; write a path inside the pinned repository.")


def _escapes(path: str) -> bool:
    pure = PurePosixPath(path)
    return pure.is_absolute() or ".." in pure.parts or bool(CONTROL.search(path)) or not pure.parts


def _check_destination(where: str, destination: str, refusals: Refusals) -> None:
    parts = [part.lower() for part in PurePosixPath(destination).parts]
    if _escapes(destination) or destination.endswith("/"):
        refusals.add(where, f"the destination {show(destination)} leaves the tree; write a relative path without `..`.")
    elif ".git" in parts:
        refusals.add(where, f"the destination {show(destination)} is inside .git; write a path of the tree.")


def _check_cells(cells: Sequence[Cell], refusals: Refusals) -> None:
    taken: dict[str, str] = {}
    for cell in cells:
        _check_cell_name(cell.name, refusals)
        other = taken.setdefault(cell_dir(cell.name), cell.name)
        if other != cell.name:
            refusals.add(
                "",
                f"the cells {show(other)} and {show(cell.name)} would share the directory {show(cell_dir(other))}; "
                "rename one of the two.",
            )


def _check_cell_name(name: str, refusals: Refusals) -> None:
    directory = cell_dir(name)
    if CONTROL.search(name):
        problem = "control characters"
    elif directory.startswith((".", "-")):
        problem = "a leading dot, dash or space"
    elif len(directory.encode()) > NAME_BYTES:
        problem = f"more than {NAME_BYTES} bytes"
    elif not name.strip():
        problem = "nothing to see"
    else:
        return
    refusals.add("", f"the cell name {show(name)} becomes a directory and has {problem}; rename the cell.")


def _check_experiment(file: ScenarioFile, cells: Sequence[Cell], name: str, refusals: Refusals) -> None:
    where = "[scenario] name" if file.scenario.name is not None else "the file's own name"
    if CONTROL.search(name) or slug(name).startswith((".", "-")) or name.strip() != name:
        refusals.add(where, f"found {show(name)}, which becomes a directory; write letters and digits first.")
    if file.task is None or file.agent is None or file.protocol is None:
        return
    total = len("_".join([name, file.task.etalon, file.agent.provider, file.agent.model]).encode())
    if total > NAME_BYTES:
        refusals.add(where, f"name, etalon, provider and model have {total} bytes together; shorten them to {NAME_BYTES}.")
    runs = file.protocol.repetitions * len(cells)
    if runs > MOST_RUNS:
        refusals.add("[protocol] repetitions", f"makes {runs} runs, more than {MOST_RUNS}; split the experiment.")
    if file.task.prompt is None:
        bare = [cell.name for cell in cells if "prompt" not in cell.delta]
        if bare:
            refusals.add(
                "[task] prompt", f'missing, and the cells {listed(bare[:5])} have none; write prompt = "prompts/task.md".'
            )


def _check_validation(file: ScenarioFile, refusals: Refusals) -> None:
    validators = file.validation or ()
    names: dict[str, int] = {}
    owners: dict[str, str] = {}
    for position, validator in enumerate(validators, 1):
        where = f"[[validation]] #{position}"
        name = validator.name or validator.mode
        if name in names:
            refusals.add(
                f"{where} name",
                f"#{names[name]} is called {show(name)} too, and the name is the name of the result file; "
                f'write another, for instance name = "{name}-2".',
            )
        names.setdefault(name, position)
        for metric in validator.metrics:
            _check_metric(where, metric, name, owners, refusals)
        if isinstance(validator, CustomMetrics):
            _check_custom(where, validator, refusals)
    if file.task is not None and file.task.test_command is None and "tests" in owners:
        refusals.add(
            "[task] test_command",
            'missing, and a validator declares the metric "tests"; write the suite, for instance '
            'test_command = "python3 -m unittest".',
        )


def _check_metric(where: str, metric: str, name: str, owners: dict[str, str], refusals: Refusals) -> None:
    if CONTROL.search(metric) or metric.strip() != metric:
        refusals.add(f"{where} metrics", f"found {show(metric)}; write it without outer spaces and control characters.")
    other = owners.setdefault(metric, name)
    if other != name:
        refusals.add(
            f"{where} metrics",
            f"{show(metric)} is declared by {show(other)} too; rename one, for instance to {show(f'{metric}_{name}')}.",
        )


def _check_custom(where: str, validator: CustomMetrics, refusals: Refusals) -> None:
    from trysquare.scenario.assertions import produced

    if _escapes(validator.path) and not _inside(validator.path):
        refusals.add(f"{where} path", f"found {show(validator.path)}; write a path relative to the tree, inside it.")
    prefix = f"{validator.name}." if validator.name is not None else ""
    known = [f"{prefix}{metric}" for metric in produced(validator.assertions)]
    for metric in validator.metrics:
        if metric not in known:
            refusals.add(
                f"{where} metrics",
                f"{show(metric)} is nothing this validator answers{closest(metric, known)}; it answers {listed(known)}.",
            )


def _inside(path: str) -> bool:
    """Whether a path with `..` in it stays in the tree all the same."""
    depth = 0
    for part in PurePosixPath(path.replace("\\", "/")).parts:
        depth += -1 if part == ".." else 1
        if depth < 0 or part.startswith("/") or re.fullmatch(r"[A-Za-z]:", part):
            return False
    return depth > 0 and not CONTROL.search(path)


def _check_verdict(file: ScenarioFile, cells: Sequence[Cell], refusals: Refusals) -> None:
    verdict = file.verdict
    if verdict is None:
        return
    if file.validation:
        declared = [metric for validator in file.validation for metric in validator.metrics]
        _check_declared("criterion", [verdict.criterion], declared, refusals)
        _check_declared("validity", verdict.validity, declared, refusals)
    names = [cell.name for cell in cells]
    axes = file.axes.grid
    if isinstance(verdict.reference, str):
        reference = verdict.reference
    else:
        given = verdict.reference
        absent, unknown = [axis for axis in axes if axis not in given], [axis for axis in given if axis not in axes]
        if absent or unknown:
            refusals.add(
                "[verdict] reference",
                f"found {show(given)}, which must name a value for every axis and nothing else; the axes are "
                f"{listed(axes)}: write one value each, or the name of a cell.",
            )
            return
        reference = JOIN.join(given[axis] for axis in axes)
    if names and reference not in names:
        refusals.add(
            "[verdict] reference",
            f"there is no cell {show(reference)}{closest(reference, names)}; write one of {listed(names[:20])}.",
        )


def _check_declared(name: str, used: Iterable[str], declared: Sequence[str], refusals: Refusals) -> None:
    for metric in used:
        if metric not in declared:
            refusals.add(
                f"[verdict] {name}",
                f"no validator declares {show(metric)}{closest(metric, declared)}; write one of {listed(declared)}, "
                "or declare it.",
            )


def validator_name(validator: Validation) -> str:
    """The name of a validator's result file."""
    return validator.name or validator.mode
