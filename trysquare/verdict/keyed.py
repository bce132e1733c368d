"""Results that are read by attribute and by key."""

from collections.abc import Iterator, Mapping
from dataclasses import Field
from typing import Any, ClassVar


class Keyed(Mapping[str, Any]):
    """A base of frozen dataclasses: a mapping of their fields."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __getitem__(self, key: str) -> Any:
        if key not in self.__dataclass_fields__:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dataclass_fields__)

    def __len__(self) -> int:
        return len(self.__dataclass_fields__)
