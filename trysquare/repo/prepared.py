"""A tree made ready for an agent, and the base commit it starts from."""

from dataclasses import dataclass, field
from pathlib import Path

from trysquare.errors import RepoError
from trysquare.matrix import Blob, Tree
from trysquare.repo.hold import Hold
from trysquare.repo.staging import Known


class SetupFailed(RepoError):
    """The setup executable of a cell did not succeed, so there is no tree to measure.

    Its text is the detail of the run. `status` is the exit status, None when it was ended for taking too long;
    `output` is the end of what it printed.
    """

    def __init__(self, detail: str, status: int | None, output: str) -> None:
        super().__init__(detail)
        self.status, self.output = status, output


@dataclass(frozen=True)
class Base:
    """All that is needed to make the base commit of a run again, the frozen bytes aside.

    `commit` is the etalon, `replaced` what was committed over tracked files because git could not hide it; `model` is
    written into the agent definitions among those.
    """

    commit: str
    history: bool = True
    setup: Blob | None = None
    files: Tree = field(default_factory=dict)
    replaced: Tree = field(default_factory=dict)
    model: str | None = None


@dataclass
class Prepared:
    """A clone ready to be measured, and what was put in it.

    Attributes
    ----------
    path : Path
        The tree the agent works in.
    etalon : str
        The commit or tag it was cloned at.
    injected, given : list of str
        Plumbing of the harness, and files given to the task, relative to the tree.
    agents : dict
        For each injected agent its `model` and the `source` that settles it.
    base, base_commit, base_tree
        What the agent starts from: how it is made, its commit, and the tree of that.
    shadow : Path
        The git directory of the harness, outside the tree; the tree's own where nobody made another.
    known : Known
        What was in the tree before the agent came.
    """

    path: Path
    etalon: str
    injected: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    agents: dict[str, dict[str, str | None]] = field(default_factory=dict)
    base: Base = field(default_factory=lambda: Base(""))
    base_commit: str = ""
    base_tree: str = ""
    shadow: Path = field(default_factory=Path)
    known: Known = field(default_factory=lambda: Known({}))

    def __post_init__(self) -> None:
        self.path = Path(self.path).absolute()
        if self.shadow == Path():
            self.shadow = self.path / ".git"
        if not self.base.commit:
            self.base = Base(self.etalon)
        if not self.base_commit and (self.shadow / "HEAD").exists():
            found = self.hold.run("rev-parse", "HEAD", "HEAD^{tree}").decode().split()
            self.base_commit, self.base_tree = found

    @property
    def hold(self) -> Hold:
        """Git commands on the tree, through the git directory of the harness."""
        return Hold(self.shadow, self.path)
