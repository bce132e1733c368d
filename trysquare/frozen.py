"""Frozen dataclasses to plain JSON values and back."""

import dataclasses
import types
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def decode(kind: type[T], data: Any) -> T:
    """The dataclass `kind` from what `dataclasses.asdict` made of it, after a trip through JSON.

    Handles nested dataclasses, `tuple[X, ...]`, `Mapping[str, X]`, `X | None`, and plain JSON values.

    Raises
    ------
    KeyError, TypeError
        When the data has another shape.
    """
    value: T = _decode(kind, data)
    return value


def _decode(kind: Any, data: Any) -> Any:
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        if data is None:
            return None
        [inner] = [a for a in args if a is not type(None)]
        return _decode(inner, data)
    if origin is tuple:
        return tuple(_decode(args[0], item) for item in data)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {key: _decode(args[1], item) for key, item in data.items()}
    if dataclasses.is_dataclass(kind):
        assert isinstance(kind, type)
        hints = _hints(kind)
        return kind(**{key: _decode(hints[key], item) for key, item in data.items()})
    return data


def encode(value: Any) -> Any:
    """A dataclass as plain JSON values."""
    return dataclasses.asdict(value)
