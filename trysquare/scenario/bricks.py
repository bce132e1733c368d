"""Rules of `[harness]`: which keys make a brick, where its files may go, and which cells cite it."""

from pathlib import PurePosixPath

from trysquare.refusals import closest, key, listed, show
from trysquare.scenario.cells import blocks
from trysquare.scenario.draft import Draft, escapes
from trysquare.scenario.language import Brick

FORMS = {
    "a pinned repository": {"repo", "tag", "load"},
    "an extension": {"load"},
    "paths": {"paths", "kind", "model"},
    "files": {"files", "kind"},
}
"""The keys each form of a brick may have."""


def check_bricks(draft: Draft) -> None:
    """Note every brick that is not one, and every cell that cites a brick nobody defines."""
    for name, brick in draft.file.harness.items():
        where = f"[harness.{key(name)}]"
        _check_name(draft, where, name)
        _check_form(draft, where, name, brick)
        for destination in brick.files or {}:
            _check_destination(draft, f"{where} files", destination)
    if draft.sound("harness"):
        _check_citations(draft)


def _check_name(draft: Draft, where: str, name: str) -> None:
    draft.check_word(where, name)
    draft.check_size(where, name)
    if "/" in name or name.startswith(".") or not name:
        draft.refuse(
            where, f"the name {show(name)} becomes a directory; write it without `/` and without a leading dot."
        )


def _check_citations(draft: Draft) -> None:
    bricks = draft.file.harness
    known = f"the bricks are {listed(bricks)}" if bricks else "no brick is declared"
    for where, lines in blocks(draft.file):
        for name in lines.harness or ():
            if name not in bricks:
                draft.refuse(
                    f"{where} harness",
                    f"unknown brick {show(name)}{closest(name, bricks)}; {known}: define [harness.{key(name)}].",
                )


def _form(given: set[str], brick: Brick) -> tuple[str, set[str]] | None:
    """What a brick is by its keys, and the keys it needs for that."""
    if given & {"repo", "tag"}:
        return "a pinned repository", {"repo", "tag", "load"}
    if brick.kind == "files" or "files" in given:
        return "files", {"files", "kind"}
    if given & {"paths", "kind", "model"}:
        return "paths", {"paths"}
    return ("an extension", {"load"}) if "load" in given else None


def _check_form(draft: Draft, where: str, name: str, brick: Brick) -> None:
    given = {field for field in type(brick).model_fields if getattr(brick, field) is not None}
    found = _form(given, brick)
    if found is None:
        draft.refuse(where, 'is empty; write repo, tag and load, or load, or paths, or kind = "files" and files.')
        return
    form, needed = found
    for absent in sorted(needed - given):
        remedy = 'kind = "files"' if absent == "kind" else absent
        draft.refuse(where, f"a brick of {form} also needs {absent}; write {remedy}.")
    for extra in sorted(given - FORMS[form]):
        draft.refuse(where, f"{extra} means nothing in a brick of {form}; remove it, or make it a brick of its own.")
    if form == "files":
        _check_files(draft, where, brick)
    elif form == "paths":
        _check_paths(draft, where, name, brick)
    elif form == "a pinned repository":
        _check_pinned(draft, where, brick)


def _check_files(draft: Draft, where: str, brick: Brick) -> None:
    if brick.kind not in (None, "files"):
        draft.refuse(where, f'kind is {show(brick.kind)} but files are given; write kind = "files".')
    if brick.files == {}:
        draft.refuse(f"{where} files", 'is empty; write "destination" = "source".')
    places = [PurePosixPath(path).as_posix() for path in brick.files or {}]
    for place in sorted({place for place in places if places.count(place) > 1}):
        draft.refuse(f"{where} files", f"gives the destination {show(place)} twice; write it once.")
    for place in places:
        inner = next((other for other in places if other.startswith(f"{place}/")), None)
        if inner is not None:
            draft.refuse(
                f"{where} files",
                f"makes {show(place)} a file, and a directory that holds {show(inner)}; rename one of the two.",
            )


def _check_paths(draft: Draft, where: str, name: str, brick: Brick) -> None:
    if brick.paths == ():
        draft.refuse(f"{where} paths", "is empty; list a file or a directory.")
    kind = brick.kind or ("skills" if name == "skills" else "agents")
    if kind == "skills" and brick.model is not None:
        draft.refuse(f"{where} model", "is written into agent files, and this brick holds skills; remove it.")
    if brick.model is not None:
        draft.check_word(f"{where} model", brick.model)


def _check_pinned(draft: Draft, where: str, brick: Brick) -> None:
    if brick.repo is not None:
        draft.check_word(f"{where} repo", brick.repo)
        if "/" in brick.repo or "~" in brick.repo:
            draft.refuse(
                f"{where} repo",
                f"found {show(brick.repo)}, which is a path; write its name under [harness] of trysquare.toml.",
            )
    if brick.tag is not None:
        draft.check_word(f"{where} tag", brick.tag)
        draft.check_size(f"{where} tag", brick.tag)
    if brick.load is not None and escapes(brick.load):
        draft.refuse(f"{where} load", f"found {show(brick.load)}; write a path inside the pinned repository.")


def _check_destination(draft: Draft, where: str, destination: str) -> None:
    parts = [part.lower() for part in PurePosixPath(destination).parts]
    if escapes(destination) or destination.endswith("/"):
        draft.refuse(
            where, f"the destination {show(destination)} is no path inside the tree; write a relative one without `..`."
        )
    elif ".git" in parts:
        draft.refuse(where, f"the destination {show(destination)} is inside .git; write a path of the tree.")
