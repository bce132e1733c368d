"""Rules between the sections of a scenario: the task, the agent, texts and names."""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from trysquare.assay.patterns import is_artefact
from trysquare.outputs.names import PLACEHOLDER, cell_dir, slug
from trysquare.refusals import closest, listed, show
from trysquare.scenario.bricks import check_bricks
from trysquare.scenario.cells import blocks
from trysquare.scenario.commands import ScenarioError, split_command
from trysquare.scenario.draft import CONTROL, Draft, seen
from trysquare.scenario.judging import check_validation, check_verdict
from trysquare.scenario.model import Cell
from trysquare.scenario.paths import REPOSITORY, is_path, oversized, unsendable

NAME_BYTES = 200
"""Bytes the name of one directory may have."""

MOST_RUNS = 100_000
"""Runs one experiment may have; run ids have 32 bits."""

WANTED = {
    "task": "[task] with repo, etalon and prompt",
    "agent": "[agent] with provider, model and thinking",
    "protocol": "[protocol] with repetitions",
    "validation": "[[validation]] with mode and metrics",
    "verdict": "[verdict] with criterion and reference",
}
"""Sections without which there is no experiment, and how to begin each."""

NO_TAG = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|^[-/.]|^@$|//|/\.|@\{|[/.]$|\.lock(?:/|$)")
"""What git allows in no tag, and a few forms that would be read as something else."""


LETTERS = re.compile(r"\[(?:!|(?!!))(?:\][^\]]*|[^\]]+)\]")
"""A set of letters in a glob pattern."""


def check(draft: Draft, cells: Sequence[Cell], name: str) -> None:
    """Note everything that the valid sections get wrong together."""
    for section, remedy in WANTED.items():
        if draft.sound(section) and not getattr(draft.file, section):
            draft.refuse(f"[{section}]" if section != "validation" else "[[validation]]", f"missing; write {remedy}.")
    _check_task(draft)
    _check_agent(draft)
    _check_texts(draft)
    check_bricks(draft)
    _check_cells(draft, cells)
    _check_experiment(draft, cells, name)
    check_validation(draft)
    check_verdict(draft, [cell.name for cell in cells])


def _check_task(draft: Draft) -> None:
    task = draft.file.task
    if task is None:
        return
    if "/" in task.repo or "~" in task.repo:
        draft.refuse(
            "[task] repo",
            f"found {show(task.repo)}, which is a path; write a logical name here and its directory under [repos] of "
            "trysquare.toml.",
        )
    draft.check_word("[task] repo", task.repo)
    draft.check_size("[task] repo", task.repo)
    draft.check_size("[task] etalon", task.etalon)
    _check_etalon(draft, task.etalon)
    for name, commands in (("test_command", (task.test_command,)), ("prepare", task.prepare or ())):
        for command in commands:
            if command is not None:
                _check_command(draft, f"[task] {name}", command)
    for name, patterns in (("artefacts", task.artefacts or ()), ("collect", task.collect)):
        for pattern in patterns:
            _check_pattern(draft, f"[task] {name}", pattern)
    for pattern in task.collect:
        if ".git" in pattern.lower().split("/"):
            draft.refuse("[task] collect", f"found {show(pattern)}, which is git's own; name files of the tree.")
    for pattern in task.artefacts or ():
        if set(pattern) <= set("*?/") and is_artefact("a", [pattern]) and is_artefact("ab.c", [pattern]):
            draft.refuse(
                "[task] artefacts",
                f"found {show(pattern)}, which takes every file for a by-product, so that nothing would be work; name "
                "what running the task leaves behind.",
            )


def _check_command(draft: Draft, where: str, command: str) -> None:
    try:
        split_command(command)
    except ScenarioError as error:
        draft.refuse(where, str(error))


def _check_etalon(draft: Draft, etalon: str) -> None:
    where = "[task] etalon"
    if re.fullmatch(r"[0-9A-Fa-f]{40}", etalon) and etalon != etalon.lower():
        draft.refuse(where, f"found {show(etalon)}; write the commit in lower case.")
    elif NO_TAG.search(etalon):
        draft.refuse(where, f"found {show(etalon)}, which cannot be the name of a tag; write a tag, or a full commit.")


def _check_pattern(draft: Draft, where: str, pattern: str) -> None:
    if CONTROL.search(pattern) or pattern.startswith(("/", "./")) or ".." in PurePosixPath(pattern).parts:
        draft.refuse(where, f"found {show(pattern)}; write a glob pattern relative to the tree, without `./` or `..`.")
    elif pattern.startswith("!"):
        draft.refuse(
            where,
            f"found {show(pattern)}: no pattern takes another back; list what is meant, or write `?` for that letter.",
        )
    elif "[" in re.sub(LETTERS, "", pattern):
        draft.refuse(where, f"found {show(pattern)}, whose `[` no `]` closes; close it, or write [[] for the letter.")
    elif re.search(r"(?<!\[)\{[^{}]*,[^{}]*\}", pattern):
        draft.refuse(
            where,
            f"found {show(pattern)}, where braces are letters; write each pattern by itself, or [{{] for the letter.",
        )


def _check_agent(draft: Draft) -> None:
    agent = draft.file.agent
    if agent is None:
        return
    draft.check_word("[agent] provider", agent.provider)
    draft.check_word("[agent] model", agent.model)
    if agent.image is not None:
        draft.refuse("[agent] image", f"found {show(agent.image)}: containers are not available yet; remove the key.")


def _check_texts(draft: Draft) -> None:
    task = draft.file.task
    texts = [("[task]", "prompt", task.prompt)] if task is not None else []
    for where, lines in blocks(draft.file):
        texts += [(where, name, getattr(lines, name)) for name in ("prompt", "context", "system")]
    for where, name, text in texts:
        if text is not None and not is_path(text, draft.base):
            _check_text(draft, f"{where} {name}", name, text)


def _check_text(draft: Draft, where: str, name: str, text: str) -> None:
    problem = unsendable(text) or (oversized(text) if name == "prompt" else None)
    if problem:
        draft.refuse(where, problem)
    reserved = text == REPOSITORY and name == "context"
    if re.fullmatch(r"@\S+", text) and not reserved:
        near = closest(text, [REPOSITORY]) if name == "context" else ""
        draft.refuse(where, f"found {show(text)}{near}, which is neither a text nor a path; write one of the two.")


def _check_cells(draft: Draft, cells: Sequence[Cell]) -> None:
    taken: dict[str, str] = {}
    read: dict[str, str] = {}
    for cell in cells:
        same = read.setdefault(seen(cell.name), cell.name)
        if same != cell.name:
            draft.refuse(
                "",
                f"the cells {same!a} and {cell.name!a} look the same, by letters that have no shape or are "
                "composed otherwise; rename one of the two.",
            )
        problem = _unusable(cell.name)
        if problem:
            draft.refuse("", f"the cell name {show(cell.name)} becomes a directory and has {problem}; rename the cell.")
        other = taken.setdefault(cell_dir(cell.name), cell.name)
        if other != cell.name:
            draft.refuse(
                "",
                f"the cells {show(other)} and {show(cell.name)} would share the directory {show(cell_dir(other))}; "
                "rename one of the two.",
            )


def _unusable(name: str) -> str | None:
    """What of a cell name cannot live in a path."""
    directory = cell_dir(name)
    if CONTROL.search(name):
        return "control characters"
    if not name.strip():
        return "nothing in it"
    if name.strip() != name or directory.startswith((".", "-")):
        return "a leading dot or dash, or outer spaces"
    if len(directory.encode()) > NAME_BYTES:
        return f"more than {NAME_BYTES} bytes"
    if PLACEHOLDER.search(directory):
        return "braces or a <word>, which the engine would fill in"
    return None


def _check_experiment(draft: Draft, cells: Sequence[Cell], name: str) -> None:
    file = draft.file
    where = "[scenario] name" if file.scenario.name is not None else "the name of the file"
    if CONTROL.search(name) or slug(name).startswith((".", "-")) or name.strip() != name or not name:
        draft.refuse(where, f"found {show(name)}, which becomes a directory; begin with a letter or a digit.")
    if file.scenario.title is not None and CONTROL.search(file.scenario.title):
        draft.refuse(
            "[scenario] title", f"found {show(file.scenario.title)}; write one line without control characters."
        )
    parts = {where: name}
    if file.task is not None and file.agent is not None:
        parts |= {"[task] etalon": file.task.etalon}
        parts |= {"[agent] provider": file.agent.provider, "[agent] model": file.agent.model}
        size = len("_".join(parts.values()).encode())
        if size > NAME_BYTES:
            draft.refuse(
                where, f"name, etalon, provider and model have {size} bytes together; shorten them to {NAME_BYTES}."
            )
    for place, part in parts.items():
        if re.search("[{}<>]", part):
            draft.refuse(
                place,
                f"found {show(part)}, which becomes a part of a directory, where the engine fills in braces and angle "
                "brackets; write it without them.",
            )
    if file.protocol is not None and file.protocol.repetitions * len(cells) > MOST_RUNS:
        runs = file.protocol.repetitions * len(cells)
        draft.refuse("[protocol] repetitions", f"makes {runs} runs, more than {MOST_RUNS}; split the experiment.")
    bare = [cell.name for cell in cells if "prompt" not in cell.delta]
    if file.task is not None and file.task.prompt is None and bare:
        draft.refuse(
            "[task] prompt", f'missing, and the cells {listed(bare[:5])} have none; write prompt = "prompts/task.md".'
        )
