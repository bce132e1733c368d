"""What a custom-metrics validator may assert, and the combinations that cannot mean anything."""

import math
import re
import warnings
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, Strict
from pydantic_core import PydanticCustomError

from trysquare.custom_metrics import label_all
from trysquare.refusals import show


def _number(value: object) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return value
    raise PydanticCustomError("number_type", "a finite number")


def _scalar(value: object) -> bool | int | float | str:
    if isinstance(value, bool | str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise PydanticCustomError("scalar_type", "a text, a finite number, true or false")


Bound = Annotated[int | float, PlainValidator(_number, json_schema_input_type=float)]
Scalar = Annotated[bool | int | float | str, PlainValidator(_scalar, json_schema_input_type=bool | float | str)]

BOUNDS = ("min", "max", "gt", "lt")
VALUE = (*BOUNDS, "equals", "tolerance", "matches", "contains")
"""Conditions on the value, as opposed to the presence, of a metric."""

LONGEST_MATCH = 10**7
"""Steps that checking `equals` against `matches` may take; see `_cheap`."""


class Assertion(BaseModel):
    """One metric of the file and the conditions it must meet, all of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: Annotated[str, Field(min_length=1)] = Field(description="a key of the file", examples=["tests_failed"])
    name: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="names the result; the metric when absent", examples=["suite"]
    )
    min: Bound | None = Field(default=None, description="the least value", examples=[0.8])
    max: Bound | None = Field(default=None, description="the greatest value", examples=[2000])
    gt: Bound | None = Field(default=None, description="the value is more than this", examples=[0])
    lt: Bound | None = Field(default=None, description="the value is less than this", examples=[0.05])
    equals: Scalar | None = Field(default=None, description="the value, of the same type", examples=[0])
    tolerance: Bound | None = Field(default=None, description="how far off a numeric equals may be", examples=[0.01])
    matches: str | None = Field(
        default=None, description="a regular expression searched in a text", examples=["^done$"]
    )
    contains: Scalar | None = Field(
        default=None, description="a part of the text, upper and lower case alike", examples=["ok"]
    )
    present: Annotated[bool, Strict()] | None = Field(
        default=None, description="the metric is in the file", examples=[True]
    )
    absent: Annotated[bool, Strict()] | None = Field(
        default=None, description="the metric is not in the file", examples=[True]
    )

    @property
    def conditions(self) -> tuple[str, ...]:
        """The conditions that are given."""
        return tuple(name for name in (*VALUE, "present", "absent") if getattr(self, name) is not None)


def produced(assertions: Sequence[Assertion]) -> list[str]:
    """The metrics a validator of these assertions answers whatever the file holds, without their prefix.

    A label asserted again gets `#2`, `#3`, ...; raw values come on top, as `value.<metric>`.
    """
    labels = label_all((assertion.name, assertion.metric) for assertion in assertions)
    names = ["passed", "score", *(f"assert.{label}" for label in labels)]
    return [*names, *dict.fromkeys(f"value.{assertion.metric}" for assertion in assertions)]


def problems(assertion: Assertion) -> Iterator[str]:
    """Why an assertion cannot mean anything, each as the end of a sentence."""
    given = set(assertion.conditions)
    if not given:
        yield f"asserts nothing of {show(assertion.metric)}; write a condition, for instance equals = 0."
    for name in ("present", "absent"):
        if getattr(assertion, name) is False:
            yield f"{name} = false says nothing; write {name} = true, or remove it."
    if "absent" in given and len(given) > 1:
        yield "absent cannot be combined with other conditions; remove one side."
    if "contains" in given and given & {*VALUE} - {"contains"}:
        yield "contains stands alone; put the other conditions into an assertion of their own."
    if assertion.contains == "":
        yield 'contains = "" is true of every text; write the part to look for.'
    yield from _tolerance(assertion)
    yield from _matches(assertion)
    bounds = given & {*BOUNDS}
    numeric = is_number(assertion.equals)
    if bounds and "equals" in given and not numeric:
        yield "bounds are about numbers, and equals is none; remove one side."
    if bounds and "matches" in given:
        yield "bounds are about numbers and matches about texts; remove one side."
    if bounds and not satisfiable(assertion):
        said = ", ".join(f"{name} = {getattr(assertion, name)}" for name in assertion.conditions if name in VALUE)
        yield f"no number meets {said}; correct one of them."


def _tolerance(assertion: Assertion) -> Iterator[str]:
    if assertion.tolerance is None:
        return
    if not is_number(assertion.equals):
        yield "tolerance belongs to a numeric equals; add one, or remove tolerance."
    if assertion.tolerance < 0:
        yield f"tolerance = {assertion.tolerance} is negative; write 0 or more."


def _matches(assertion: Assertion) -> Iterator[str]:
    pattern, equals = assertion.matches, assertion.equals
    if pattern is None:
        return
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        yield f"matches = {show(pattern)} is no regular expression ({error}); correct it."
        return
    if equals is None:
        return
    if not isinstance(equals, str):
        yield "matches is about texts, and equals is none; remove one side."
    elif not _cheap(pattern, equals) or not compiled.search(equals):
        yield f"equals = {show(equals)} is not seen to match {show(pattern)}; equals alone decides, remove matches."


def _cheap(pattern: str, text: str) -> bool:
    """Whether searching takes few steps for certain: no repeated group, and few repetitions for the length."""
    repetitions = len(re.findall(r"(?<!\()[*+?{]", pattern))
    return not re.search(r"\)[*+?{]", pattern) and (len(text) + 1) ** (repetitions + 1) <= LONGEST_MATCH


def is_number(value: object) -> bool:
    """Whether a value is a number, which a boolean is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def satisfiable(*assertions: Assertion) -> bool:
    """Whether some number meets the bounds and the numeric equals of every assertion."""
    low: list[tuple[Decimal, bool]] = []
    high: list[tuple[Decimal, bool]] = []
    for each in assertions:
        low += [(_exact(bound), strict) for bound, strict in ((each.min, False), (each.gt, True)) if bound is not None]
        high += [(_exact(bound), strict) for bound, strict in ((each.max, False), (each.lt, True)) if bound is not None]
        if is_number(each.equals):
            about, off = _exact(each.equals), _exact(each.tolerance or 0)
            low.append((about - off, False))
            high.append((about + off, False))
    return all(least < most or (least == most and not (above or below)) for least, above in low for most, below in high)


def _exact(number: object) -> Decimal:
    """A number by its shortest decimal form."""
    return Decimal(str(number))
