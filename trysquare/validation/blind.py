"""How blind judges are: which pieces differ between cells by declaration, and so tell the treatment."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from trysquare.matrix import Matrix

if TYPE_CHECKING:
    from trysquare.scenario import Scenario

Report = Mapping[str, Mapping[str, bool]]
"""For each judge, by name, every piece it reads and whether that differs between cells."""


def blindness(scenario: "Scenario") -> Report:
    """How blind the judges of a scenario are, piece by piece."""
    prompts = {str(scenario.declared(cell)["prompt"]) for cell in scenario.cells}
    return _report(((v.name, v.mode, v.config) for v in scenario.validators), len(prompts))


def blindness_of(matrix: Matrix) -> Report:
    """How blind the judges of a frozen plan are, piece by piece."""
    prompts = {cell.prompt for cell in matrix.cells.values()}
    return _report(((v.name, v.mode, v.settings) for v in matrix.validators.values()), len(prompts))


def _report(validators: Iterable[tuple[str, str, Mapping[str, Any]]], prompts: int) -> Report:
    return {
        name: {piece: piece == "prompt" and prompts > 1 for piece in settings["pieces"]}
        for name, mode, settings in validators
        if mode == "judge"
    }


def describe_blindness(report: Report, cells: Collection[object]) -> list[str]:
    """One line for each judge, as a launch prints it."""
    lines = []
    for name, pieces in report.items():
        leaks = [piece for piece, varies in pieces.items() if varies]
        if leaks:
            varying = f"{' and '.join(leaks)} {'varies' if len(leaks) == 1 else 'vary'}"
            lines.append(
                f"! {name} is only partially blind: {varying} between cells, so the judge can identify the treatment"
            )
        else:
            lines.append(f"{name}: blind over {len(cells)} cells (pieces: {', '.join(pieces)})")
    return lines


def own_judges(matrix: Matrix) -> list[str]:
    """One line for each judge that is the model under test, whoever provides it."""
    measured = matrix.agent.model
    return [
        f"! {validator.name} is judged by {validator.settings['model']}, the model under test ({measured}): pin another"
        for validator in matrix.validators.values()
        if validator.mode == "judge" and _same(validator.settings["model"], measured)
    ]


def _same(one: str, other: str) -> bool:
    """Whether one of two patterns is part of the other, providers and thinking levels left out."""
    one, other = (name.rpartition("/")[2].partition(":")[0].lower() for name in (one, other))
    return one in other or other in one
