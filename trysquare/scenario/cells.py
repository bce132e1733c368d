"""From axes, values, variants and presets to the list of cells."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import product
from math import prod
from typing import Any

from trysquare.refusals import Refusals, closest, listed, located, show
from trysquare.scenario.language import Include, Lines, ScenarioFile
from trysquare.scenario.model import Cell

JOIN = " / "
"""What joins axis values into the name of a grid cell."""

PLAIN = ("prompt", "context", "system", "thinking", "history", "setup")
"""Keys of a delta that have one value; `harness` adds up instead."""

MOST_CELLS = 10_000
"""Combinations of axis values one experiment may have."""


def expand(file: ScenarioFile, refusals: Refusals) -> tuple[Cell, ...]:
    """Every cell in declared order: the grid, the cells included after it, the variants; problems are noted."""
    cells = [*_grid(file, refusals), *_included(file, refusals), *_variants(file, refusals)]
    seen: set[str] = set()
    for cell in cells:
        if cell.name in seen:
            refusals.add("", f"the cell {show(cell.name)} is declared twice; rename one of the two.")
        seen.add(cell.name)
    if not cells and not refusals.problems:
        refusals.add(
            "", "there is no cell; declare [variants.<name>] blocks, an empty one for the baseline, or [axes]."
        )
    return tuple(cells)


def blocks(file: ScenarioFile) -> Iterator[tuple[str, Lines]]:
    """Every table that holds lines of a configuration, with the place it stands at."""
    for name, lines in file.presets.items():
        yield located(["presets", name], 2), lines
    for axis, values in file.values.items():
        for value, delta in values.items():
            yield located(["values", axis, value], 3), delta
    for name, delta in file.variants.items():
        yield located(["variants", name], 2), delta
    for position, entry in enumerate(file.axes.include):
        if isinstance(entry, Include):
            yield located(["axes", "include", position]), entry


def _own(lines: Lines) -> dict[str, Any]:
    return {name: value for name in PLAIN if (value := getattr(lines, name)) is not None}


def _merged(where: str, own: Lines, used: Sequence[str], file: ScenarioFile, refusals: Refusals) -> dict[str, Any]:
    """The lines of the presets used, then those of the cell, which win."""
    presets = {}
    for name in used:
        if name in file.presets:
            presets[name] = file.presets[name]
        else:
            refusals.add(where, f"unknown preset {show(name)}{closest(name, file.presets)}; {_known(file)}.")
    delta = _own(own)
    for name in PLAIN:
        given = {preset: lines[name] for preset, lines in presets.items() if name in lines}
        if name in delta or not given:
            continue
        if len(set(given.values())) > 1:
            said = " and ".join(f"{show(preset)} says {show(value)}" for preset, value in given.items())
            refusals.add(where, f"two presets set {name} to different values ({said}); set {name} in the cell itself.")
        delta[name] = next(iter(given.values()))
    _unite(delta, [lines.harness or () for lines in [*presets.values(), own]])
    return {name: delta[name] for name in (*PLAIN, "harness") if name in delta}


def _unite(delta: dict[str, Any], harnesses: Sequence[Sequence[str]]) -> None:
    united = tuple(dict.fromkeys(brick for harness in harnesses for brick in harness))
    if united:
        delta["harness"] = united


def _known(file: ScenarioFile) -> str:
    return f"the presets are {listed(file.presets)}" if file.presets else "define it as [presets.<name>]"


def _variants(file: ScenarioFile, refusals: Refusals) -> Iterator[Cell]:
    for name, delta in file.variants.items():
        where = located(["variants", name], 2)
        yield Cell(name, _merged(where, delta, delta.use, file, refusals), delta.description or "")


def _included(file: ScenarioFile, refusals: Refusals) -> Iterator[Cell]:
    for position, entry in enumerate(file.axes.include):
        where = located(["axes", "include", position])
        given = Include(use=entry) if isinstance(entry, tuple) else entry
        if given.name is None and (_own(given) or given.harness):
            refusals.add(where, 'changes keys of its own but has no name; add name = "...".')
            continue
        if given.name is None and not given.use:
            refusals.add(where, 'names no preset and no cell; write a list of presets, or a table with name = "...".')
            continue
        automatic = "".join(f"+{name}" for name in file.presets if name in given.use)
        delta = _merged(where, given, given.use, file, refusals)
        if given.name or automatic:
            yield Cell(given.name or automatic, delta, given.description or "")


def _grid(file: ScenarioFile, refusals: Refusals) -> Iterator[Cell]:
    axes = file.axes.grid
    _check_axes(axes, file, refusals)
    _check_values(axes, file, refusals)
    if not axes or not all(axes.values()) or any(misread(axis, file) for axis in axes):
        return
    size = prod(len(values) for values in axes.values())
    if size > MOST_CELLS:
        refusals.add("[axes]", f"makes {size} cells, more than {MOST_CELLS}; list fewer values.")
        return
    per_axis = [
        [(value, *_value(axis, value, position, file, refusals)) for position, value in enumerate(values)]
        for axis, values in axes.items()
    ]
    excluded = _excluded(axes, file, refusals)
    left = 0
    for combination in product(*per_axis):
        assignment = dict(zip(axes, (value for value, _, _ in combination), strict=True))
        if any(partial.items() <= assignment.items() for partial in excluded):
            continue
        left += 1
        delta = _combined(assignment, [delta for _, delta, _ in combination], refusals)
        prose = "; ".join(dict.fromkeys(text for _, _, text in combination if text))
        yield Cell(JOIN.join(assignment.values()), delta, prose)
    if not left:
        refusals.add("[axes] exclude", "leaves no cell of the grid; exclude fewer combinations.")


def _check_axes(axes: Mapping[str, Sequence[str]], file: ScenarioFile, refusals: Refusals) -> None:
    for axis, values in axes.items():
        where = located(["axes", axis])
        if not values:
            refusals.add(where, "has no value; list its values, the baseline first, or remove the axis.")
            continue
        for value in dict.fromkeys(value for value in values if values.count(value) > 1):
            refusals.add(where, f"lists {show(value)} twice; each value makes cells of its own, list it once.")
        for value in values:
            if JOIN in f" {value} " or value.strip() != value:
                refusals.add(where, f"found {show(value)}: cell names join values by ` / `; write it without that.")
        if near := misread(axis, file):
            refusals.add(where, f"is read as an axis{near}, and nothing defines its values; correct the name.")
        elif values[0] in file.presets:
            refusals.add(
                where,
                f"its first value {show(values[0])} is the baseline, which changes nothing, but a preset has that "
                "name; list a baseline first, or rename the preset.",
            )
    if not axes and file.axes.exclude:
        refusals.add("[axes] exclude", "there is no axis to exclude from; declare one, or remove exclude.")


def misread(axis: str, file: ScenarioFile) -> str:
    """What a key of `[axes]` is likely to have meant, when nothing says that it is an axis."""
    keys = get_close_matches(axis, ("include", "exclude"), cutoff=0.8)
    defined = axis in file.values or any(value in file.presets for value in file.axes.grid[axis][1:])
    return "" if defined else closest(axis, keys)


def _check_values(axes: Mapping[str, Sequence[str]], file: ScenarioFile, refusals: Refusals) -> None:
    for axis, named in file.values.items():
        if axis not in axes:
            where = located(["values", axis], 2)
            refusals.add(where, f"no axis {show(axis)} is declared{closest(axis, axes)}; the axes are {listed(axes)}.")
            continue
        for value in named:
            if value not in axes[axis]:
                refusals.add(
                    located(["values", axis, value], 3),
                    f"nothing uses this block: the axis {show(axis)} has no value {show(value)}"
                    f"{closest(value, axes[axis])}; its values are {listed(axes[axis])}.",
                )


def _value(axis: str, value: str, position: int, file: ScenarioFile, refusals: Refusals) -> tuple[dict[str, Any], str]:
    """What one value of an axis changes, and the prose about it."""
    where = located(["values", axis, value], 3)
    block = file.values.get(axis, {}).get(value)
    preset = value in file.presets and position > 0
    if block is None and not preset:
        if position:
            named = [*file.values.get(axis, {}), *file.presets]
            refusals.add(
                located(["axes", axis]),
                f"the value {show(value)} is neither defined by {where} nor by a preset of its name"
                f"{closest(value, [name for name in named if name != value])}; "
                "define it, or it would measure the baseline a second time.",
            )
        return {}, ""
    if block is None:
        return _merged(where, Lines(), [value], file, refusals), ""
    if preset and value not in block.use:
        refusals.add(where, f"a preset is called {show(value)} too; add use = [{show(value)}], or rename the preset.")
    return _merged(where, block, block.use, file, refusals), block.description or ""


def _excluded(axes: Mapping[str, Sequence[str]], file: ScenarioFile, refusals: Refusals) -> list[dict[str, str]]:
    for position, partial in enumerate(file.axes.exclude):
        where = located(["axes", "exclude", position])
        if not partial:
            refusals.add(where, "names no axis, so it would exclude every cell; name at least one value.")
        for axis, value in partial.items():
            if axis not in axes:
                refusals.add(where, f"unknown axis {show(axis)}{closest(axis, axes)}; the axes are {listed(axes)}.")
            elif value not in axes[axis]:
                near, known = closest(value, axes[axis]), listed(axes[axis])
                refusals.add(where, f"the axis {show(axis)} has no value {show(value)}{near}; its values are {known}.")
    return [partial for partial in file.axes.exclude if partial]


def _combined(assignment: Mapping[str, str], deltas: Sequence[Mapping[str, Any]], refusals: Refusals) -> dict[str, Any]:
    combined: dict[str, Any] = {}
    for name in PLAIN:
        given = {axis: delta[name] for axis, delta in zip(assignment, deltas, strict=True) if name in delta}
        if len(set(given.values())) > 1:
            refusals.add(
                "[axes]",
                f"the axes {listed(given)} both set {name}, to different values in the cell "
                f"{show(JOIN.join(assignment.values()))}; exclude that combination, or set {name} on one axis only.",
            )
        if given:
            combined[name] = next(iter(given.values()))
    _unite(combined, [delta.get("harness", ()) for delta in deltas])
    return combined
