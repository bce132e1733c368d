"""Freezing validators, and the digest that says when one must score again."""

import os
from collections.abc import Sequence
from glob import has_magic
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from trysquare import rounds
from trysquare.files import digest
from trysquare.frozen import encode
from trysquare.matrix import Blob, Task, Tree, ValidatorPlan
from trysquare.refusals import show
from trysquare.runner.freeze import Freezer
from trysquare.runner.trees import MOST_FILES, files_under
from trysquare.scenario import Scenario, ScenarioError, Validator

SCRIPT_TIMEOUT = 600.0
"""Seconds a script validator may take when it does not say."""


def validators(freezer: Freezer, task: Task, judge_timeout: float) -> dict[str, ValidatorPlan]:
    """Every validator by name, in declared order; `judge_timeout` in seconds is the protocol's.

    Raises
    ------
    ScenarioError
        When a file that a validator declares cannot be read.
    """
    return {
        validator.name: _plan(freezer, validator, f"[[validation]] #{position}", task, judge_timeout)
        for position, validator in enumerate(freezer.scenario.validators, 1)
    }


def _plan(freezer: Freezer, validator: Validator, where: str, task: Task, judge_timeout: float) -> ValidatorPlan:
    config, common = validator.config, (validator.name, validator.mode, validator.metrics)
    if validator.mode == "script":
        tree, command = _script(freezer, validator, where)
        scored = [{path: encode(blob) for path, blob in tree.items()}, command]
        name = digest([*scored, *_task(freezer.scenario, task, freezer)])
        return ValidatorPlan(*common, name, command, tree, config.get("timeout", SCRIPT_TIMEOUT))
    if validator.mode == "judge":
        settings = {name: config[name] for name in ("provider", "model", "thinking")}
        settings = {**settings, "pieces": list(config["pieces"]), "rubric": freezer.file(config["rubric"])}
        settings["criteria"] = digest(settings)
        return ValidatorPlan(
            *common, rounds.pointer_digest(validator.name, 0), timeout=judge_timeout, settings=settings
        )
    if validator.mode == "form":
        return ValidatorPlan(*common, digest(["form", validator.name]))
    settings = {"path": config["path"], "assertions": [dict(assertion) for assertion in config["assertions"]]}
    if "name" in config:
        settings["prefix"] = f"{validator.name}."
    return ValidatorPlan(*common, digest([settings, *_task(freezer.scenario, task, freezer)]), settings=settings)


def _task(scenario: Scenario, task: Task, freezer: Freezer) -> list[Any]:
    """What of the task changes a free verdict."""
    setup = scenario.task.setup
    frozen = None if setup is None else freezer.blob(scenario.base / setup, "[task] setup").digest
    return [task.test_command, task.prepare, task.artefacts, frozen]


def _script(freezer: Freezer, validator: Validator, where: str) -> tuple[Tree, str]:
    """The command and its declared inputs as one tree that keeps how they lie to each other, and the command in it."""
    base = freezer.scenario.base
    command = _normal(base / validator.config["command"])
    files = [command, *_inputs(base, validator.config["inputs"], f"{freezer.scenario.path}: {where} inputs")]
    root = Path(os.path.commonpath([file.parent for file in files]))
    tree: dict[str, Blob] = {}
    for file in dict.fromkeys(files):
        tree[file.relative_to(root).as_posix()] = freezer.blob(file, where)
    return tree, command.relative_to(root).as_posix()


def _inputs(base: Path, declared: Sequence[str], where: str) -> list[Path]:
    found: list[Path] = []
    for value in declared:
        paths = [base / value]
        if has_magic(value) and not os.path.lexists(paths[0]):
            paths = _matching(base, value, where)
        if not paths or not paths[0].exists():
            raise ScenarioError(f"{where}: {show(value)} matches no file; correct it, or remove it.")
        for path in paths:
            found += [_normal(file) for _, file in files_under(path, where, keep_name=False)]
    return found


def _matching(base: Path, pattern: str, where: str) -> list[Path]:
    if ".." in PurePosixPath(pattern).parts:
        raise ScenarioError(f"{where}: {show(pattern)} climbs with `..`; name the directory without a pattern.")
    try:
        found = list(islice(base.glob(pattern), MOST_FILES + 1))
    except (ValueError, NotImplementedError, OSError) as error:
        raise ScenarioError(f"{where}: {show(pattern)} is no relative glob pattern ({error}); correct it.") from None
    if len(found) > MOST_FILES:
        raise ScenarioError(f"{where}: {show(pattern)} matches more than {MOST_FILES} files; narrow it.")
    return sorted(path for path in found if path.is_file())


def _normal(path: Path) -> Path:
    """An absolute path without `..`, links kept as they are."""
    return Path(os.path.normpath(path.absolute()))
