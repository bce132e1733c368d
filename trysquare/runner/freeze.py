"""Freezing an experiment: every byte that cells and validators read, by digest, with the fingerprints they give."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trysquare.errors import RepoError
from trysquare.files import digest
from trysquare.frozen import encode
from trysquare.matrix import Blob, CellPlan, Extension, Tree
from trysquare.refusals import key, show
from trysquare.repo.agents import check_agent_models, settle, with_model
from trysquare.runner import skills as skill_files
from trysquare.runner.bricks import read_brick, read_file
from trysquare.runner.trees import above, files_under, read_bytes
from trysquare.scenario import Cell, Scenario, ScenarioError

if TYPE_CHECKING:
    from trysquare.scenario.language import Brick


@dataclass
class Trees:
    """The trees of one cell while its bricks are put together."""

    files: dict[str, Blob] = field(default_factory=dict)
    agents: dict[str, Blob] = field(default_factory=dict)
    skills: dict[str, Blob] = field(default_factory=dict)
    extensions: list[Extension] = field(default_factory=list)
    models: set[str | None] = field(default_factory=set)
    skill_names: dict[str, str] = field(default_factory=dict)


class Freezer:
    """Turns cells into plans, collecting the frozen bytes in `bricks`.

    `script` is the text of a rehearsal's script: part of every fingerprint when there is one. `harness` maps names of
    harness repositories to their addresses.
    """

    def __init__(
        self, scenario: Scenario, script: bytes | None = None, harness: Mapping[str, str] | None = None
    ) -> None:
        self.scenario = scenario
        self.bricks: dict[str, bytes] = {}
        self._harness = harness or {}
        self.script = None if script is None else self.keep(script)

    def keep(self, data: bytes) -> str:
        """Keep bytes; returns their digest."""
        name = digest(data)
        self.bricks[name] = data
        return name

    def text(self, value: str) -> str:
        """Keep an inline text, or the text of the file that a path names; returns the digest."""
        return self.keep(read_brick(self.scenario.base, value).encode())

    def file(self, value: str) -> str:
        """Keep the text of a file, by its path; returns the digest."""
        return self.keep(read_file(self.scenario.base, value).encode())

    def blob(self, path: Path, where: str) -> Blob:
        """Keep a file; `where` is the place of the scenario that names it."""
        data, executable = read_bytes(path, f"{self.scenario.path}: {where}")
        return Blob(self.keep(data), executable)

    def cells(self) -> dict[str, CellPlan]:
        """Every cell, in declared order."""
        return {cell.name: self.cell(cell) for cell in self.scenario.cells}

    def cell(self, cell: Cell) -> CellPlan:
        """One cell, resolved down to bytes.

        Raises
        ------
        ScenarioError
            When a brick cannot be read, or two bricks of the cell collide.
        """
        from trysquare.scenario.paths import REPOSITORY

        declared, base = self.scenario.declared(cell), self.scenario.base
        keeps = declared["context"] == REPOSITORY
        context = None if keeps or declared["context"] is None else self.text(declared["context"])
        setup = None if declared["setup"] is None else self.blob(base / declared["setup"], "setup")
        trees = self._trees(cell, declared["harness"])
        resolved: dict[str, Any] = {
            "thinking": declared["thinking"],
            "prompt": self.text(declared["prompt"]),
            "context": context,
            "system": None if declared["system"] is None else self.text(declared["system"]),
            "keep_context": keeps,
            "history": declared["history"],
            "setup": setup,
            "files": trees.files,
            "agents": trees.agents,
            "skills": trees.skills,
            "extensions": tuple(trees.extensions),
            "agent_model": trees.models.copy().pop() if len(trees.models) == 1 else None,
        }
        parts = self._parts(resolved)
        return CellPlan(cell.name, digest(parts), parts, **resolved, description=cell.description)

    def _parts(self, resolved: Mapping[str, Any]) -> dict[str, str]:
        """Every component of the fingerprint: short values as they are, contents as digests."""
        agent = self.scenario.agent
        parts = {
            "agent": f"{agent.kind} {agent.provider} {agent.model}",
            "thinking": resolved["thinking"],
            "prompt": resolved["prompt"],
            "history": "true" if resolved["history"] else "false",
        }
        if resolved["keep_context"]:
            parts["context"] = "the repository's own"
        for name in ("context", "system"):
            if resolved[name] is not None:
                parts[name] = resolved[name]
        if resolved["setup"] is not None:
            parts["setup"] = resolved["setup"].digest
        for name in ("files", "agents", "skills"):
            if resolved[name]:
                parts[name] = digest({path: encode(blob) for path, blob in resolved[name].items()})
        if resolved["extensions"]:
            parts["extensions"] = digest([_extension(extension) for extension in resolved["extensions"]])
        if self.script is not None:
            parts["rehearsal"] = self.script
        return parts

    def _trees(self, cell: Cell, bricks: Mapping[str, "Brick"]) -> Trees:
        trees = Trees()
        for name, brick in bricks.items():
            where = f"[harness.{key(name)}]"
            if brick.files is not None:
                found = {
                    _normal(path): self.blob(self._path(source), f"{where} files")
                    for path, source in brick.files.items()
                }
                self._unite(trees.files, found, f"{where} files", cell)
            elif brick.paths is not None:
                self._paths(trees, name, brick, cell)
            else:
                trees.extensions.append(self._extension(name, brick, where))
        return trees

    def _path(self, value: str) -> Path:
        return self.scenario.base / value

    def _paths(self, trees: Trees, name: str, brick: "Brick", cell: Cell) -> None:
        where = f"[harness.{key(name)}] paths"
        skills = (brick.kind or ("skills" if name == "skills" else "agents")) == "skills"
        loaded = False
        for value in brick.paths or ():
            path = self._path(value)
            found = {
                relative: self.blob(file, where)
                for relative, file in files_under(path, f"{self.scenario.path}: {where}", keep_name=skills)
            }
            if skills:
                self._unite(trees.skills, found, where, cell)
                loaded |= self._skills(trees, found, where, cell)
            else:
                self._unite(trees.agents, self._agents(found, brick, value, where), where, cell)
                trees.models.add(brick.model)
        if skills and not loaded:
            raise ScenarioError(
                f"{self.scenario.path}: {where}: the agent finds no skill in them; name the directory of a "
                "SKILL.md, or one above it."
            )

    def _skills(self, trees: Trees, found: Tree, where: str, cell: Cell) -> bool:
        """Note the skills the agent will load from a path; it loads one of each name."""
        files = {path: self.bricks[blob.digest] for path, blob in found.items()}
        names = skill_files.names(files, f"{self.scenario.path}: {where}")
        for name, path in names:
            other = trees.skill_names.setdefault(name, path)
            if other != path:
                raise ScenarioError(
                    f"{self.scenario.path}: {where}: the cell {show(cell.name)} gets two skills of the name "
                    f"{show(name)} ({show(other)} and {show(path)}), and the agent loads one; write another `name` "
                    "into one of them."
                )
        return bool(names)

    def _agents(self, found: Mapping[str, Blob], brick: "Brick", value: str, where: str) -> dict[str, Blob]:
        """Agent files, the model of the brick written into each."""
        if not any(path.endswith(".md") for path in found):
            raise ScenarioError(
                f"{self.scenario.path}: {where}: {show(value)} holds no agent file (*.md); correct the path."
            )
        agents = {}
        for path, blob in found.items():
            if path.endswith(".md"):
                data = with_model(self.bricks[blob.digest], brick.model)
                self._settled(data, path, where)
                blob = Blob(self.keep(data), blob.executable)
            agents[path] = blob
        return agents

    def _settled(self, data: bytes, path: str, where: str) -> None:
        """Refuse an agent that would run on whatever model the machine prefers."""
        name, settled = settle(data, path)
        try:
            check_agent_models({name: settled})
        except RepoError as error:
            raise ScenarioError(f"{self.scenario.path}: {where}: {show(path)}: {error}") from None

    def _unite(self, tree: dict[str, Blob], found: Tree, where: str, cell: Cell) -> None:
        folders = {folder for path in tree for folder in above(path)}
        for path in found:
            clash = next((other for other in [path, *above(path)] if other in tree), path if path in folders else None)
            if clash is not None:
                raise ScenarioError(
                    f"{self.scenario.path}: {where}: the cell {show(cell.name)} gets {show(path)} twice"
                    f"{'' if clash == path else f' (as {show(clash)} too)'}; rename one, or load one brick only."
                )
        tree.update(found)

    def _extension(self, name: str, brick: "Brick", where: str) -> Extension:
        assert brick.load is not None
        if brick.repo is None:
            file = self._path(brick.load)
            return Extension(name, file.name, {file.name: self.blob(file, f"{where} load")})
        return Extension(name, brick.load, origin=self._harness.get(brick.repo), tag=brick.tag)


def _extension(extension: Extension) -> Any:
    """What of an extension decides a measurement: its bytes, or the tag that pins it; never its address."""
    return [extension.load, extension.tag, {path: blob.digest for path, blob in extension.tree.items()}]


def _normal(path: str) -> str:
    return "/".join(part for part in path.split("/") if part not in ("", "."))
