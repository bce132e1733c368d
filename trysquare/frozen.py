"""Frozen dataclasses to plain JSON values and back."""

import dataclasses
import types
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")
Make = Callable[[Any], Any]


def decode(kind: type[T], data: Any) -> T:
    """The dataclass `kind` from what `dataclasses.asdict` made of it, after a trip through JSON.

    Handles nested dataclasses, `tuple[X, ...]`, `Mapping[str, X]`, `X | None`, and plain JSON values.

    Raises
    ------
    KeyError, TypeError
        When the data has another shape.
    """
    wanted: Any = kind
    make = _decoder(wanted)
    assert make is not None
    value: T = make(data)
    return value


@cache
def _decoder(kind: Any) -> Make | None:
    """How a value of this type is made of JSON; None where it is JSON. Every job decodes a plan, however long."""
    origin, args = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        [inner] = [_decoder(a) for a in args if a is not type(None)]
        return inner and partial(_optional, inner)
    if origin is tuple:
        item = _decoder(args[0])
        return partial(_items, item) if item else tuple
    if isinstance(origin, type) and issubclass(origin, Mapping):
        item = _decoder(args[1])
        return partial(_values, item) if item else dict
    return _maker(kind) if isinstance(kind, type) and dataclasses.is_dataclass(kind) else None


def _optional(make: Make, data: Any) -> Any:
    return None if data is None else make(data)


def _items(make: Make, data: Any) -> tuple[Any, ...]:
    return tuple(map(make, data))


def _values(make: Make, data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: make(value) for key, value in data.items()}


def _maker(kind: type[T]) -> Callable[[Mapping[str, Any]], T]:
    made = {name: make for name, hint in get_type_hints(kind).items() if (make := _decoder(hint)) is not None}
    if not made:
        return lambda data: kind(**data)
    return lambda data: kind(**{key: made[key](value) if key in made else value for key, value in data.items()})


def encode(value: Any) -> Any:
    """A dataclass as plain JSON values."""
    return dataclasses.asdict(value)
