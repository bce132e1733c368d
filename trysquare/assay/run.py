"""One finished run, and everything a validator may ask about it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from trysquare.assay.metrics import CannotJudge, Metric
from trysquare.assay.patterns import is_artefact, selects
from trysquare.assay.session import ToolCall, measured, skills_expanded, tool_calls, wrote


class Etalon(NamedTuple):
    """The pinned state: its name, the repository that holds it, and its full commit."""

    tag: str
    checkout: Path
    commit: str | None = None

    def __str__(self) -> str:
        return self.tag


class Assay:
    """One finished run. An attribute costs nothing; a method does work.

    Asking for what the context does not hold raises `CannotJudge`, except for `given` and `artefacts`: a scenario that
    declares none has none.
    """

    def __init__(self, context: Mapping[str, Any]) -> None:
        self._context = context

    def _part(self, name: str, compute: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """The one way to every part of the run, which `fake` replaces."""
        return compute(*arguments, **options)

    def _key(self, name: str) -> Any:
        try:
            return self._context[name]
        except KeyError:
            raise CannotJudge(f"the context of this run has no '{name}'") from None

    def _plain(self, name: str) -> Any:
        return self._part(name, lambda: self._key(name))

    def _text(self, name: str) -> str:
        def read() -> str:
            path = Path(self._key(name))
            try:
                return path.read_text(encoding="utf-8", errors="replace")
            except OSError as error:
                raise CannotJudge(f"the {name} of this run cannot be read: {path} ({error.strerror})") from None

        return str(self._part(name, read))

    @cached_property
    def _entries(self) -> list[dict[str, Any]]:
        return measured(self.session)

    @property
    def touched(self) -> frozenset[str]:
        """The files the agent changed, added or deleted, the artefacts included."""
        return frozenset(self._plain("touched"))

    @property
    def artefacts(self) -> frozenset[str]:
        """The touched files the scenario declares to be by-products; `touched - artefacts` is the work."""

        def match() -> frozenset[str]:
            patterns = self._context.get("artefacts") or ()
            return frozenset(path for path in self.touched if is_artefact(path, patterns))

        return frozenset(self._part("artefacts", match))

    @property
    def given(self) -> frozenset[str]:
        """The files a brick put in the tree before the agent started."""
        return frozenset(self._part("given", lambda: self._context.get("given") or ()))

    @property
    def files_at_etalon(self) -> tuple[str, ...]:
        """Every path of the pinned tree."""
        return tuple(self._part("files_at_etalon", lambda: self._key("files")))

    @property
    def response(self) -> str:
        """The agent's final prose."""
        return self._text("response")

    @property
    def prompt(self) -> str:
        """The task as the agent was given it."""
        return self._text("prompt")

    @property
    def declared(self) -> tuple[str, ...]:
        """The metrics the scenario wants from this validator."""
        return tuple(self._plain("declared"))

    @property
    def etalon(self) -> Etalon:
        """The pinned state the run started from."""

        def read() -> Etalon:
            etalon = self._key("etalon")
            return Etalon(etalon["tag"], Path(etalon["checkout"]), etalon.get("commit"))

        found: Etalon = self._part("etalon", read)
        return found

    @property
    def repo(self) -> Path:
        """The tree the agent left; nothing in this module changes it."""
        return Path(self._plain("repo"))

    @property
    def collected(self) -> Path:
        """The directory of the files the scenario collects."""
        return Path(self._plain("collected"))

    @property
    def session(self) -> Path:
        """The directory of the archived session files, one per attempt."""
        return Path(self._plain("session"))

    @property
    def cell(self) -> str:
        """The configuration that was measured."""
        return str(self._plain("cell"))

    @property
    def repetition(self) -> int:
        """Which repetition of its cell this is, from 0."""
        return int(self._plain("repetition"))

    @property
    def test_command(self) -> str:
        """The suite, as the scenario writes it."""
        return str(self._plain("test_command"))

    @property
    def base_commit(self) -> str:
        """The commit the agent started from: the etalon, the setup and what was given."""
        return str(self._plain("base_commit"))

    @property
    def skills_expanded(self) -> tuple[str, ...]:
        """The skills whose body came with the prompt, in order; the others had to be read with a call."""
        return tuple(self._part("skills_expanded", lambda: skills_expanded(self._entries)))

    def tests(self, timeout: float = 300) -> Metric:
        """Run the declared suite on a copy of the tree: true, false, or unjudged, with the runner's own summary.

        Unjudged when the suite or a command that prepares it says nothing of the tree: it cannot be started, does not
        end within `timeout` seconds, or finds no test.
        """

        def run(timeout: float) -> Metric:
            from trysquare.assay.suite import judge

            return judge(self.repo, self.test_command, self._context.get("prepare") or (), timeout)

        outcome: Metric = self._part("tests", run, timeout=timeout)
        return outcome

    def probe(
        self,
        command: str | Sequence[str],
        write: Mapping[str, str] | None = None,
        append: Mapping[str, str] | None = None,
        drop: str | Iterable[str] | None = None,
        timeout: float = 30,
    ) -> Any:
        """Run a behavioural probe in a copy of the tree and return the JSON it prints.

        Parameters
        ----------
        command : str or sequence of str
            What to run; no shell sees it.
        write, append : mapping of path to text, optional
            Files of the copy to create or replace, and text to add at the end of files that are there.
        drop : str or iterable of str, optional
            Globs of what to remove, before anything is written.

        Raises
        ------
        ProbeTimeout
            After `timeout` seconds.
        CannotJudge
            When the probe could not be run or did not answer.
        """

        def run(command: str | Sequence[str], **changes: Any) -> Any:
            from trysquare.assay import probe, trees

            seconds = changes.pop("timeout")
            with trees.copy_of(self.repo) as copy:
                probe.place(copy, **changes)
                return probe.ask(command, copy, seconds)

        return self._part("probe", run, command, write=write, append=append, drop=drop, timeout=timeout)

    def sources_at_etalon(self, pattern: str, exclude: str | Iterable[str] | None = None) -> str:
        """The text of the pinned files a pattern selects, in path order, joined by line ends.

        A pattern is matched component by component (`src/*.js` stays out of `src/sub/`, `**` spans any number).

        Raises
        ------
        CannotJudge
            When nothing is selected, or the repository no longer holds the etalon.
        """

        def read(pattern: str, exclude: str | Iterable[str] | None) -> str:
            from trysquare import repo
            from trysquare.errors import RepoError

            unwanted = [exclude] if isinstance(exclude, str) else list(exclude or ())
            chosen = [path for path in sorted(self.files_at_etalon) if selects(pattern, path)]
            chosen = [path for path in chosen if not any(selects(each, path) for each in unwanted)]
            if not chosen:
                raise CannotJudge(f"no file of the etalon matches '{pattern}'")
            etalon = self.etalon
            try:
                return "\n".join(
                    repo.etalon_file(etalon.checkout, etalon.commit or etalon.tag, path) for path in chosen
                )
            except RepoError as error:
                raise CannotJudge(f"the etalon cannot be read: {error}") from None

        return str(self._part("sources_at_etalon", read, pattern, exclude=exclude))

    def tool_calls(self) -> list[ToolCall]:
        """Every tool call of the measured attempt, in order, from the archived session."""
        return list(self._part("tool_calls", lambda: tool_calls(self._entries)))

    def first_write(self, path: str) -> int | None:
        """The index in `tool_calls()` of the first call that wrote `path`, or None.

        Raises
        ------
        CannotJudge
            When an earlier call may have written it and the session cannot tell.
        """

        def find(path: str) -> int | None:
            from trysquare.scenario import split_command

            command = self._context.get("test_command")
            suite = split_command(command) if command else ()
            return next((index for index, call in enumerate(self.tool_calls()) if wrote(call, path, suite)), None)

        found: int | None = self._part("first_write", find, path)
        return found

    @classmethod
    def fake(cls, **parts: Any) -> "Assay":
        """An Assay for a test, which answers only what it is given.

        A part is the value of the attribute or method of that name; a callable is called with the method's arguments.
        `first_write` is worked out from `tool_calls` unless it is given itself.

        Raises
        ------
        TypeError
            When there is no such attribute or method.
        """
        known = {name for name in vars(Assay) if not name.startswith("_")} - {"fake"}
        if unknown := sorted(parts.keys() - known):
            raise TypeError(f"an Assay has no {', '.join(unknown)}")
        return _Fake(parts)


class _Fake(Assay):
    def __init__(self, parts: Mapping[str, Any]) -> None:
        super().__init__({})
        self._parts = parts

    def _part(self, name: str, compute: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        if name not in self._parts:
            if name == "first_write":
                return compute(*arguments, **options)
            raise CannotJudge(f"this fake run was not given '{name}'")
        part = self._parts[name]
        return part(*arguments, **options) if callable(part) else part
