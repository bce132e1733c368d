"""Which skills the agent finds in what a brick gives it; a skill it does not load would be measured as its absence."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trysquare.refusals import show
from trysquare.scenario import ScenarioError

DECLARED = "SKILL.md"
"""The file that makes its directory a skill."""

REMEDY = "begin it with a line `---`, the lines `name: ...` and `description: ...`, and a line `---`"


def names(files: Mapping[str, bytes], where: str) -> list[tuple[str, str]]:
    """The skills the agent reads in frozen files: the name and the file of each.

    Parameters
    ----------
    files
        Relative POSIX paths below the directory of skills, and their bytes.
    where
        The place of the scenario that gives them, for a refusal.

    Raises
    ------
    ScenarioError
        When a file that is meant as a skill is none to the agent.
    """
    found: list[tuple[str, str]] = []
    for path in _candidates(files):
        problem, name = _read(files[path], path)
        meant = path.rpartition("/")[2] == DECLARED or len(files) == 1
        if problem and meant:
            raise ScenarioError(
                f"{where}: {show(path)} {problem}, so the agent would not load it and its absence would be measured; "
                f"{REMEDY}."
            )
        if not problem:
            found.append((name, path))
    return found


def _candidates(paths: Iterable[str]) -> Iterator[str]:
    """The files that the agent reads as skills: everything at the top is given to it by name."""
    tree: dict[str, Any] = {}
    for path in paths:
        *folders, name = path.split("/")
        here = tree
        for folder in folders:
            here = here.setdefault(folder, {})
        here[name] = path
    for name, held in sorted(tree.items()):
        if isinstance(held, dict):
            yield from _under(held, outermost=True)
        elif name.endswith(".md"):
            yield held


def _under(tree: Mapping[str, Any], outermost: bool) -> Iterator[str]:
    if isinstance(tree.get(DECLARED), str):
        yield tree[DECLARED]
        return
    for name, held in sorted(tree.items()):
        if name.startswith(".") or name == "node_modules":
            continue
        if isinstance(held, dict):
            yield from _under(held, outermost=False)
        elif outermost and name.endswith(".md"):
            yield held


def _read(data: bytes, path: str) -> tuple[str, str]:
    """Why a file is no skill to the agent, empty when it is one, and what it is called."""
    from trysquare.vally.yaml12 import YamlError, parse_yaml

    text = data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    end = text.find("\n---", 3)
    if not text.startswith("---") or end < 0:
        return "has no frontmatter", ""
    try:
        head = parse_yaml(text[4:end])
    except YamlError as error:
        return f"has a frontmatter that is not YAML ({error})", ""
    head = head if isinstance(head, dict) else {}
    description, name = head.get("description"), head.get("name")
    if not isinstance(description, str) or not description.strip():
        return "has no description", ""
    folders = path.split("/")[:-1]
    return "", name if isinstance(name, str) and name else (folders[-1] if folders else "skills")
