"""What validators said of a run, as it is stored; a damaged file is named with what its remedy costs.

A script's verdict is made again for nothing. A judge's was bought, and the copy the tables read is made of it for
nothing. What a person answered is nowhere else.
"""

from collections.abc import Mapping
from typing import Any

from trysquare.errors import ArchiveError
from trysquare.files import read_json
from trysquare.layout import RunLayout
from trysquare.matrix import ValidatorPlan


def verdict(run: RunLayout, validator: ValidatorPlan) -> dict[str, Any]:
    """What is stored of one validator: its metrics, or why it `failed`.

    Raises
    ------
    FileNotFoundError
        When there is nothing yet.
    ArchiveError
        When the file is no verdict.
    """
    path = run.verdict(validator.name)
    remedy = "launch `run`, which makes it again for nothing"
    if validator.mode == "form":
        remedy = "restore it from a copy, or delete it and have the form answered again: what it held is lost then"
    found = read_json(path, remedy)
    if not isinstance(found, dict) or not (
        isinstance(found.get("metrics"), dict) or (validator.mode != "form" and isinstance(found.get("failed"), str))
    ):
        raise ArchiveError(f"{path} is no verdict of {validator.name}: {remedy}.")
    return found


def judgement(run: RunLayout, name: str, round_: int) -> dict[str, Any]:
    """The verdict that was bought of a judge in one round.

    Raises
    ------
    FileNotFoundError
        When there is none.
    ArchiveError
        When the file is no verdict.
    """
    path = run.judgement(name, round_) / "verdict.json"
    found = read_json(path, rebuy(run, name, round_))
    if not isinstance(found, dict) or not all(isinstance(found.get(key), Mapping) for key in ("metrics", "usage")):
        raise ArchiveError(f"{path} is no verdict of {name}: {rebuy(run, name, round_)}.")
    return found


def rebuy(run: RunLayout, name: str, round_: int) -> str:
    """What to do about a verdict that was bought and is gone or damaged."""
    directory = run.judgement(name, round_)
    return f"restore it from a copy, or delete {directory} to have exactly this verdict bought, and paid for, again"


def refuse_occupied(run: RunLayout, name: str, round_: int) -> None:
    """Refuse a place where no verdict can be put, before one is paid for.

    Raises
    ------
    ArchiveError
        When the directory of a verdict that is not there holds anything.
    """
    directory = run.judgement(name, round_)
    if directory.is_dir() and any(directory.iterdir()):
        raise ArchiveError(f"{directory} holds files but no verdict.json: {rebuy(run, name, round_)}.")
    directory.mkdir(parents=True, exist_ok=True)
