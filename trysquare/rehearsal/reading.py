"""A closed TOML language as frozen dataclasses: every key known, every type checked, every refusal one sentence."""

import dataclasses
import difflib
import json
import tomllib
import types
from collections.abc import Mapping
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from trysquare.errors import TrysquareError

T = TypeVar("T")

_NAMES = {str: "a string", bool: "true or false", int: "a whole number", float: "a number"}


class ScriptError(TrysquareError):
    """A rehearsal script that cannot be played."""


def key(name: str = "", span: tuple[float, float] | None = None, default: Any = dataclasses.MISSING) -> Any:
    """A dataclass field whose TOML key may have another name, and whose numbers lie in a span."""
    return dataclasses.field(default=default, metadata={"key": name, "span": span})


def load(kind: type[T], text: str, file: str) -> T:
    """The dataclass `kind` from TOML text.

    Keys are the field names (or the name given to `key`); a field without default is required; types are those of
    the annotations: plain values, nested dataclasses, `X | None`, `int | str`, tuples of any of these, and free tables.

    Raises
    ------
    ScriptError
        Naming `file`, the key, what was found and what to write.
    """
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScriptError(f"{file} is not TOML: {error}.") from None
    return _table(kind, data, file)


def _table(kind: type[T], data: Mapping[str, Any], where: str) -> T:
    hints = get_type_hints(kind)
    fields = {f.metadata.get("key") or f.name: f for f in dataclasses.fields(kind)}  # type: ignore[arg-type]
    for name in data:
        if name not in fields:
            close = difflib.get_close_matches(name, fields, n=1)
            hint = f"did you mean `{close[0]}`?" if close else f"known are {', '.join(fields)}."
            raise ScriptError(f"{where}: unknown key `{name}`; {hint}")
    values = {}
    for name, field in fields.items():
        if name in data:
            values[field.name] = _value(hints[field.name], data[name], where, name, field.metadata.get("span"))
        elif field.default is dataclasses.MISSING:
            raise ScriptError(f"{where}: `{name}` is missing; write {_wanted(hints[field.name])}.")
    return kind(**values)


def _value(hint: Any, value: Any, where: str, name: str, span: tuple[float, float] | None) -> Any:
    options = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    for option in options:
        if dataclasses.is_dataclass(option) and isinstance(option, type) and isinstance(value, dict):
            return _table(option, value, f"{where}, {name}")
        if get_origin(option) is tuple and isinstance(value, list):
            item, labels = get_args(option)[0], (f"{name} #{i}" for i in range(1, len(value) + 1))
            return tuple(_value(item, v, where, label, span) for v, label in zip(value, labels, strict=True))
        if _is(option, value):
            if span is not None and not span[0] <= value <= span[1]:
                raise ScriptError(f"{where}: `{name}` is {value}; write a number from {span[0]:g} to {span[1]:g}.")
            return float(value) if option is float else value
    raise ScriptError(f"{where}: `{name}` is {_found(value)}; write {_wanted(hint)}.")


def _is(option: Any, value: Any) -> bool:
    if get_origin(option) is not None:
        return isinstance(value, dict) and issubclass(get_origin(option), Mapping)
    if option is float:
        return type(value) in (int, float) and abs(value) < float("inf")
    return type(value) is option


def _found(value: Any) -> str:
    if isinstance(value, dict):
        return "a table"
    return "a list" if isinstance(value, list) else json.dumps(value, default=str)


def _wanted(hint: Any) -> str:
    if get_origin(hint) in (Union, types.UnionType):
        return " or ".join(_wanted(option) for option in get_args(hint) if option is not type(None))
    if get_origin(hint) is tuple:
        return "a list"
    return _NAMES.get(hint, "a table")
