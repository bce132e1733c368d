"""What every model of the scenario language is built from."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

Thinking = Literal["off", "minimal", "low", "medium", "high", "xhigh", "max"]
Text = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Flag = Annotated[bool, Strict()]


class Section(BaseModel):
    """One table of a file: frozen, closed, and also readable by key as far as keys were given."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    def __getitem__(self, name: str) -> Any:
        value = getattr(self, name) if name in type(self).model_fields else None
        if value is None:
            raise KeyError(name)
        return value

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a key, or `default` when the file does not give it and it has no default of its own."""
        try:
            return self[name]
        except KeyError:
            return default
