"""What one invocation of the engine is about: its scenarios resolved, or its matrices as they were frozen."""

import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, Self

from trysquare import (
    capacity,
    interrupt,
    replaying,
    runner,
)
from trysquare.errors import TrysquareError, refused, unheard
from trysquare.forkserver import ForkServer
from trysquare.layout import Layout
from trysquare.matrix import Matrix
from trysquare.pointers import Pointers


def refusing(method: Callable[..., Any]) -> Callable[..., Any]:
    """End the launch with one sentence and exit 1 when a method refuses, and with 130 when it is stopped."""

    @wraps(method)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except TrysquareError as error:
            sys.exit(str(error))
        except interrupt.Stopped:
            print("interrupted", file=sys.stderr)
            sys.exit(interrupt.INTERRUPTED)
        except BrokenPipeError:
            sys.exit(unheard())
        except OSError as error:
            if not (sentence := refused(error)):
                raise
            sys.exit(sentence)

    return guarded


def _frozen_before(settings: runner.Settings, error: TrysquareError) -> dict[str, tuple[Path, Matrix]]:
    """The matrices that an earlier launch of these scenarios froze; without one, the error that hinders this launch."""
    try:
        return runner.frozen(settings)
    except TrysquareError:
        raise error from None


class Invocation:
    """The matrices of one invocation of the engine, and what was asked for of them."""

    def __init__(
        self, plans: Sequence[runner.Plan] = (), workflow: Any = None, archived: Mapping[str, Matrix] | None = None
    ) -> None:
        self._plans = {str(plan.directory): plan for plan in plans}
        self._archived = dict(archived or {})
        self._matrices = {**{directory: plan.matrix for directory, plan in self._plans.items()}, **self._archived}
        self._workflow = workflow
        self._settings: runner.Settings | None = None
        self._broken: TrysquareError | None = None
        self._mark = secrets.token_hex(4)
        self._server: ForkServer | None = None
        self._pointers: dict[str, Pointers] = {}
        self._order: dict[str, dict[str, int]] = {}
        self._limits: dict[str, int] = {}
        self._asked: set[str] = set()
        self._within = workflow is not None and not workflow.modifier.is_main_snakefile()
        self._run = "run" if workflow is None else workflow.modifier.modify_rulename("run")
        self._locks: list[int] = []
        self._before: dict[str, list[dict[str, Any]]] = {}

    @classmethod
    @refusing
    def of(cls, config: Mapping[str, Any], workflow: Any) -> Self:
        """Resolve the scenarios in the main process; in a job's own process there is nothing to resolve."""
        if not workflow.is_main_process:
            return cls(workflow=workflow)
        interrupt.early()
        settings = runner.Settings.of(config, workflow.config_settings.overwrite_config)
        archived = replaying.archived(settings.scenario)
        scenarios = tuple(name for name in settings.scenario if name not in archived)
        asked, broken = replace(settings, scenario=scenarios), None
        try:
            plans = runner.resolve_all(asked)
        except TrysquareError as error:
            plans, broken = (), error
            archived |= _frozen_before(asked, error)
        limits = capacity.limits(plan.matrix for plan in plans)
        for name, limit in limits.items():
            workflow.global_resources.setdefault(name, limit)
        made = cls(plans, workflow, {str(path): matrix for path, matrix in archived.values()})
        made._settings, made._limits, made._broken = settings, limits, broken
        return made

    @property
    def matrices(self) -> list[str]:
        """The matrix directories of this launch."""
        return [*self._plans, *self._archived]

    @property
    def cells(self) -> list[str]:
        """The cells whose runs are to be set aside."""
        return [] if self._settings is None else list(self._settings.cell or self._settings.overwrite)

    @property
    def reference(self) -> str:
        """The reference the pages are asked for, empty for the declared one."""
        return "" if self._settings is None else self._settings.reference or ""

    @property
    def rendered(self) -> list[str]:
        """What the target render hands to its job: the matrices, after the reference where one is asked for."""
        # The engine leaves out an empty word of a command, and the next one would take its place.
        return [*(["--reference", self.reference] if self.reference else []), *self.matrices]

    def matrix(self, directory: str) -> Matrix:
        """The plan of one matrix: resolved in memory here, or frozen in its directory."""
        if directory not in self._matrices:
            self._matrices[directory] = Matrix.load(Layout(Path(directory)).plan)
        return self._matrices[directory]

    def _only(self, directory: str) -> tuple[str, ...]:
        return self._plans[directory].only if directory in self._plans else ()

    def _asks(self, directory: str) -> Pointers:
        if directory not in self._pointers:
            plan = self._plans.get(directory)
            carried = plan.carried.trees if plan is not None and plan.carried is not None else {}
            whole = plan is None or not runner.gone_note(plan)
            self._pointers[directory] = Pointers(directory, self.matrix(directory), self._mark, carried, whole)
        return self._pointers[directory]

    def _say_broken(self) -> None:
        """Say why a scenario cannot be launched as it is, where that hinders nothing."""
        if self._broken is not None:
            print(f"{self._broken}\n{'; '.join(self.matrices)}: taken as frozen at the last launch.", file=sys.stderr)

    def _frozen(self) -> dict[str, Matrix]:
        """The matrices of this launch, provided that each was launched before."""
        self._say_broken()
        if self._settings is not None and self._settings.rejudge:
            raise TrysquareError("rejudge buys verdicts, which only the target `run` may: ask for that one.")
        for directory, plan in self._plans.items():
            if gone := [] if plan.output.plan.exists() else runner.gone_note(plan):
                raise TrysquareError(f"{gone[0].removeprefix('GONE: ')}.")
            if not plan.output.plan.exists():
                raise TrysquareError(f"{directory}: nothing is measured yet; the target `run` measures it.")
            runner.refuse_foreign(plan)
        return {directory: self.matrix(directory) for directory in self.matrices}

    def _ask(self, target: str) -> None:
        """Note what was asked for."""
        self._asked.add(target)
