"""Preparing the tree of a run: the base commit, and the plumbing the agent is given beside it."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.matrix import Blob, CellPlan
from trysquare.repo.agents import Settled, check_agent_models, settle, with_model
from trysquare.repo.content import Content, Contents, below, put, refuse_existing, thaw, thaw_tree
from trysquare.repo.ground import AGENTS, GIVEN, REPLACED, Places, commit, expose, is_agent, lay
from trysquare.repo.prepared import Base, Prepared

CONTEXT = "AGENTS.md"
SYSTEM = ".pi/SYSTEM.md"
SKILLS = ".pi/skills/"


def prepare(source: Path, workdir: Path, bricks: Path, cell: CellPlan, commit: str, work: Path) -> Prepared:
    """Make the tree one run starts from, `<work>/tree`, with a git directory of the harness's at `<work>/shadow`.

    In this order: the etalon, the setup executable's changes (committed), history removal, files given to the task
    (committed), plumbing (hidden from git, or committed when the repository tracks a file of that name).

    Parameters
    ----------
    source : Path
        The local repository: a directory, a worktree or a bare one.
    workdir : Path
        Where stores are kept between runs.
    bricks : Path
        The frozen files of the matrix, by digest.
    cell : CellPlan
        The configuration; paths of `agents` are below `.pi/agents/`, those of `skills` below `.pi/skills/`.
    commit : str
        The etalon, peeled.
    work : Path
        A private directory of the run.

    Raises
    ------
    SetupFailed
        When the setup executable does not succeed.
    RepoError
        When the tree cannot be made as the cell describes it.
    """
    places = Places(Path(source), Path(workdir), Path(bricks), Path(work))
    plumbing = {
        **({} if cell.context is None else {CONTEXT: thaw(places.bricks, Blob(cell.context))}),
        **({} if cell.system is None else {SYSTEM: thaw(places.bricks, Blob(cell.system))}),
        **thaw_tree(places.bricks, cell.agents, AGENTS),
        **thaw_tree(places.bricks, cell.skills, SKILLS),
    }
    agents = _settled(plumbing, cell.agent_model)
    twice = sorted(set(plumbing) & set(cell.files))
    if twice:
        raise RepoError(f"'{twice[0]}' is given to the task and injected for the agent: keep one of the two.")
    prepared = lay(places, Base(commit, cell.history, cell.setup, cell.files))
    _inject(prepared, plumbing, agents, cell.agent_model)
    expose(prepared, alone=not cell.history and cell.setup is not None)
    _hide(prepared.path / ".git", prepared.known.hidden)
    return prepared


def give(prepared: Prepared, files: Mapping[str, Path]) -> None:
    """Put files into the measured tree and commit them, so that whatever the agent does to them is its own change.

    Parameters
    ----------
    files : mapping
        Destination relative to the tree, and the file that goes there.

    Raises
    ------
    RepoError
        When a destination is taken, or leaves the tree.
    """
    for path in files:
        refuse_existing(prepared.path, path)
    commit(prepared, {path: Content.read(Path(file)) for path, file in files.items()}, GIVEN)
    prepared.given += sorted(files)


def inject(
    prepared: Prepared,
    context: str | None = None,
    system: str | None = None,
    agents: Iterable[Path] | None = None,
    skills: Iterable[Path] | None = None,
    files: Mapping[str, Path] | None = None,
    agent_model: str | None = None,
) -> None:
    """Put bricks into a clone and record them in `prepared`.

    `context` and `system` are texts, `agents` and `skills` files or directories; these are plumbing, which git does not
    see. `files` belong to the task: see `give`.

    Raises
    ------
    RepoError
        When an agent has no model, or a file cannot go where it should.
    """
    plumbing = {
        **({} if context is None else {CONTEXT: Content.of(context.encode())}),
        **({} if system is None else {SYSTEM: Content.of(system.encode())}),
        **{AGENTS + path: content for path, content in below(agents or (), keep_name=False).items()},
        **{SKILLS + path: content for path, content in below(skills or (), keep_name=True).items()},
    }
    settled = _settled(plumbing, agent_model)
    give(prepared, files or {})
    _inject(prepared, plumbing, settled, agent_model)
    _hide(prepared.path / ".git", prepared.known.hidden)


def _settled(plumbing: Contents, override: str | None) -> dict[str, Settled]:
    """Which model each agent definition runs; those without one are refused."""
    found = {
        path: settle(content.data, path.removeprefix(AGENTS).removesuffix(".md"), override)
        for path, content in plumbing.items()
        if is_agent(path)
    }
    agents = dict(found.values())
    check_agent_models(agents)
    return agents


def _inject(prepared: Prepared, plumbing: Contents, agents: Mapping[str, Settled], model: str | None) -> None:
    contents = {
        path: Content(with_model(content.data, model), content.blob) if is_agent(path) else content
        for path, content in plumbing.items()
    }
    tracked = _tracked(prepared, contents)
    commit(prepared, {path: contents[path] for path in tracked}, REPLACED)
    if tracked:
        replaced = {**prepared.base.replaced, **{path: contents[path].blob for path in tracked}}
        written = model if any(map(is_agent, tracked)) else prepared.base.model
        prepared.base = replace(prepared.base, replaced=replaced, model=written)
    hidden = [path for path in contents if path not in tracked]
    for path in hidden:
        put(prepared.path, path, contents[path])
    prepared.injected += sorted(contents)
    prepared.agents.update(agents)
    prepared.known = replace(prepared.known, hidden=prepared.known.hidden.union(hidden))


def _tracked(prepared: Prepared, paths: Iterable[str]) -> list[str]:
    """Those of the paths git cannot hide, because the repository has files of that name."""
    there = [path for path in paths if os.path.lexists(prepared.path / path)]
    if not there:
        return []
    listed = prepared.hold.run("--literal-pathspecs", "ls-files", "-z", "--", *there).split(b"\0")
    return [path for path in there if os.fsencode(path) in listed]


def _hide(own: Path, paths: Iterable[str]) -> None:
    """Have git pass over the plumbing, in the clone the agent works in."""
    exclude = own / "info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    before = exclude.read_bytes() if exclude.exists() else b""
    escaped = (re.sub(rb"([\\*?\[ ])", rb"\\\1", os.fsencode(path)) for path in sorted(paths))
    # A pattern cannot hold a line end, and a question mark matches one.
    lines = [b"/" + path.replace(b"\n", b"?") + b"\n" for path in escaped]
    gap = b"" if before.endswith(b"\n") or not before else b"\n"
    exclude.write_bytes(before + gap + b"".join(line for line in lines if line not in before))
