"""From a TOML file to a Scenario, or to every reason why it is none."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trysquare.errors import TrysquareError
from trysquare.refusals import Refusals
from trysquare.scenario.commands import ScenarioError
from trysquare.scenario.model import Cell, Reference, Scenario, Validator

if TYPE_CHECKING:
    from trysquare.scenario.language import ScenarioFile
    from trysquare.scenario.validators import Validation

DEPTHS = {"values": 3, "variants": 2, "presets": 2, "harness": 2}
"""How many keys the table headers of a section have."""

FILE_LIMIT = 5 * 2**20
"""Bytes a TOML file may have."""


def load(path: str | Path, files: bool = True) -> Scenario:
    """The experiment that a file describes. Reads it and the files it points at; writes nothing, runs nothing.

    Without `files` those it points at need not be there.

    Raises
    ------
    ScenarioError
        With one line for each problem, when it is not a well-formed experiment.
    """
    path = Path(path)
    return parse(read_toml(path, ScenarioError, "a scenario"), path, files)


def read_toml(path: Path, error: type[TrysquareError], what: str) -> dict[str, Any]:
    """The tables of a TOML file.

    Raises
    ------
    TrysquareError
        Of the kind given, when the file cannot be read or is not TOML.
    """
    import tomllib

    try:
        if not path.is_file():
            found = "it is a directory" if path.is_dir() else "there is no such file"
            raise error(f"{path}: {found}; name {what}, a TOML file.")
        if path.stat().st_size > FILE_LIMIT:
            raise error(f"{path}: has more than {FILE_LIMIT // 2**20} MB; {what} is a small TOML file.")
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise error(f"{path}: is not UTF-8 (byte {problem.start}); save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as problem:
        raise error(f"{path}: {_syntax(problem)}") from None
    except (ValueError, OverflowError, RecursionError) as problem:
        raise error(f"{path}: cannot be read as TOML ({str(problem).split(';')[0]}); simplify that value.") from None
    except OSError as problem:
        raise error(f"{path}: cannot be read ({problem.strerror}); name {what}, a readable TOML file.") from None


def _syntax(problem: ValueError) -> str:
    text = str(problem)
    found = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|(end of document))\)", text, re.DOTALL)
    if not found:
        return f"TOML syntax error: {text}; correct it."
    where = f"line {found[2]}, column {found[3]}" if found[2] else "the end of the file"
    return f"TOML syntax error at {where}: {found[1]}; correct it."


def parse(raw: Mapping[str, Any], path: Path, files: bool = True) -> Scenario:
    """The experiment that the tables of a file describe; paths are relative to the directory of `path`.

    Raises
    ------
    ScenarioError
        With one line for each problem, when it is not a well-formed experiment.
    """
    from trysquare.config import which_file
    from trysquare.scenario import cells, checks, paths, shape
    from trysquare.scenario.draft import Draft
    from trysquare.scenario.language import ScenarioFile

    refusals = Refusals(path, ScenarioError)
    if which_file(raw) == "config":
        raise ScenarioError(
            f"{path}: is a machine file, not a scenario; pass it as machine_file and name a scenario here."
        )
    file, broken = shape.read(ScenarioFile, raw, refusals, DEPTHS)
    draft = Draft(file, broken, refusals, path.parent)
    expanded = cells.expand(file, refusals) if draft.sound("axes", "values", "variants", "presets") else ()
    checks.check(draft, expanded, file.scenario.name or path.stem)
    references = tuple(paths.references(file, path.parent))
    for reference in references if files else ():
        paths.check(reference, path.parent, refusals)
    refusals.settle()
    return _scenario(file, expanded, references, path)


def _scenario(file: "ScenarioFile", cells: tuple[Cell, ...], references: tuple[Reference, ...], path: Path) -> Scenario:
    """What a file without problems describes."""
    assert file.task is not None and file.agent is not None and file.protocol is not None
    assert file.verdict is not None and file.validation is not None
    name = file.scenario.name or path.stem
    return Scenario(
        name=name,
        title=file.scenario.title or name,
        task=file.task,
        agent=file.agent,
        protocol=file.protocol,
        cells=cells,
        validators=tuple(_validator(validator) for validator in file.validation),
        verdict=file.verdict,
        bricks=file.harness,
        hypothesis=file.scenario.hypothesis,
        axes=file.axes.grid,
        path=path,
        references=references,
    )


def _validator(validator: "Validation") -> Validator:
    config = validator.model_dump(exclude={"mode", "metrics"}, exclude_none=True)
    return Validator(validator.mode, validator.metrics, config)
