"""What a custom-metrics validator may assert, and the combinations that cannot mean anything."""

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Assertion(BaseModel):
    """One metric of the file and the conditions it must meet, all of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    metric: Annotated[str, Field(min_length=1)]
    equals: Any = None


def produced(assertions: Sequence[Assertion]) -> list[str]:
    return ["passed", "score"]
