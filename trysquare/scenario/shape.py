"""From a model's view of a TOML table to sentences: which key, what was found, what to write."""

import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, Tag, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from trysquare.refusals import Refusals, closest, key, listed, located, show, toml

Model = TypeVar("Model", bound=BaseModel)

TABLE = "a table"

EXPECTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": TABLE,
    "model_type": TABLE,
    "model_attributes_type": TABLE,
    "string_too_short": "a text that is not empty",
    "too_short": "a list that is not empty",
    "finite_number": "a finite number",
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "string_pattern_mismatch": "letters, digits, `-` and `_` only",
    "string_too_long": "at most {max_length} characters",
}
"""What each kind of error expected, as a refusal says it."""

BRICK_WORDS = ("skills", "skill", "agents", "agent", "extensions", "extension", "load", "files", "paths")
"""Keys that people try in a cell for what a brick does."""


def read(
    model: type[Model], raw: Mapping[str, Any], refusals: Refusals, depths: Mapping[str, int]
) -> tuple[Model, frozenset[str]]:
    """As much of a file as has the right shape, and the names of the sections that have not; every problem is noted.

    A section with a problem is left out of the result, so that the rules about other sections can still be checked.
    `depths` says how many keys the table headers of each section have (1 when absent).
    """
    try:
        return model.model_validate(raw), frozenset()
    except ValidationError as error:
        problems = [problem for problem in error.errors(include_url=False) if not _repeats(problem)]
    for problem in problems:
        where, text = _sentence(model, problem, depths)
        refusals.add(where, text)
    broken = frozenset(str(problem["loc"][0]) for problem in problems)
    return model.model_validate({name: value for name, value in raw.items() if name not in broken}), broken


def _repeats(problem: ErrorDetails) -> bool:
    """Whether a list is called short only because of entries that have a problem of their own."""
    return problem["type"] == "too_short" and len(problem["input"]) >= problem["ctx"]["min_length"]


def _sentence(model: type[BaseModel], problem: ErrorDetails, depths: Mapping[str, int]) -> tuple[str, str]:
    kind, found = problem["type"], problem["input"]
    if kind.startswith("union_tag"):
        return _mode(problem, depths)
    path, field, parent = _walk(model, problem["loc"])
    where = located(path, depths.get(str(path[0]), 1))
    if kind == "extra_forbidden":
        return _unknown(path, parent or model, depths)
    if field is None and parent is not None and parent.model_config.get("extra") == "allow":
        near = closest(str(path[1]), parent.model_fields)
        return where, f"found {show(found)}{near}; an axis is a list of texts, its values: write the baseline first."
    example = _example(path, field)
    if kind == "missing":
        return where, f"missing; write {example}."
    if kind == "literal_error":
        allowed = _choices(field)
        near = closest(found, allowed) if isinstance(found, str) else ""
        return where, f"found {show(found)}{near}; write one of {listed(allowed)}."
    template = EXPECTED.get(kind)
    expected = problem["msg"] if template is None else template.format(**problem.get("ctx", {}))
    if expected == "a list" and isinstance(found, Mapping) and len(path) == 1:
        return where, f"found one table, expected a list of them; write its header as [[{path[0]}]]."
    if expected == TABLE:
        return where, f"found {show(found)}, expected a table; write its keys below {where.split(' ')[0]}."
    return where, f"found {show(found)}, expected {expected}; write for instance {example}."


def _mode(problem: ErrorDetails, depths: Mapping[str, int]) -> tuple[str, str]:
    path = [part for part in problem["loc"] if isinstance(part, str | int)]
    modes = ["script", "judge", "form", "custom-metrics"]
    found = problem["input"].get("mode") if isinstance(problem["input"], Mapping) else None
    near = closest(found, modes) if isinstance(found, str) else ""
    said = "missing" if found is None else f"found {show(found)}{near}"
    return located([*path, "mode"], depths.get(str(path[0]), 1)), f"{said}; write mode as one of {listed(modes)}."


def _unknown(path: Sequence[str | int], parent: type[BaseModel], depths: Mapping[str, int]) -> tuple[str, str]:
    known, name = list(parent.model_fields), str(path[-1])
    if len(path) == 1:
        return "", f"unknown section [{key(name)}]{closest(name, known)}; the sections are {listed(known)}."
    hint = ""
    if name in BRICK_WORDS and {"harness", "thinking"} <= set(known):
        hint = '; skills, agents, extensions, files are bricks: define [harness.<name>], write harness = ["<name>"]'
    where = located(path[:-1], depths.get(str(path[0]), 1))
    return where, f"unknown key {show(name)}{closest(name, known)}{hint}; the keys here are {listed(known)}."


def _example(path: Sequence[str | int], field: FieldInfo | None) -> str:
    if field is None or not field.examples:
        return "what the reference describes"
    name = next(part for part in reversed(path) if isinstance(part, str))
    example = field.examples[0]
    if isinstance(example, dict):  # the place is one entry of the table, whose name the file has chosen
        example = next(iter(example.values()))
    return f"{key(name)} = {toml(example)} ({field.description})"


def _choices(field: FieldInfo | None) -> list[str]:
    found: list[str] = []

    def collect(annotation: Any) -> None:
        if get_origin(annotation) is Literal:
            found.extend(get_args(annotation))
        else:
            for part in get_args(annotation):
                collect(part)

    if field is not None:
        collect(field.annotation)
    return found


def _walk(
    model: type[BaseModel], loc: Sequence[str | int]
) -> tuple[list[str | int], FieldInfo | None, type[BaseModel] | None]:
    """The keys of a place without the names of union members, the innermost field, and the model that holds it."""
    path: list[str | int] = []
    field: FieldInfo | None = None
    parent: type[BaseModel] | None = None
    here: Any = model
    for part in loc:
        here, consumed = _arm(here, part)
        if consumed or part == "[key]":
            continue
        path.append(part)
        if isinstance(here, type) and issubclass(here, BaseModel):
            parent = here
            inner = here.model_fields.get(str(part))
            field = inner
            here = inner.annotation if inner is not None else _extra(here)
        else:
            arguments = get_args(here)
            here = arguments[-1 if get_origin(here) is dict else 0] if arguments else None
    return path or [""], field, parent


def _arm(annotation: Any, part: str | int) -> tuple[Any, bool]:
    """The annotation without wrappers, its union settled by `part` when that names a member."""
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation = get_args(annotation)[0]
        elif origin in (Union, types.UnionType):
            members = [member for member in get_args(annotation) if member is not type(None)]
            if len(members) > 1:
                chosen = next((member for member in members if part in _tags(member)), None)
                return (chosen, True) if chosen is not None else (members[0], False)
            annotation = members[0]
        else:
            return annotation, False


def _tags(member: Any) -> list[Any]:
    if get_origin(member) is Annotated:
        return [tag.tag for tag in get_args(member)[1:] if isinstance(tag, Tag)]
    mode = member.model_fields.get("mode") if isinstance(member, type) and issubclass(member, BaseModel) else None
    return list(get_args(mode.annotation)) if mode is not None else []


def _extra(model: type[BaseModel]) -> Any:
    """What the keys of an open table hold."""
    return tuple[str, ...] if model.model_config.get("extra") == "allow" else None
