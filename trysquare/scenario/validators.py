"""`[[validation]]` as typed models: one for each mode."""

from typing import Annotated, Literal

from pydantic import Field

from trysquare.scenario.assertions import Assertion
from trysquare.scenario.section import Number, Section, Text, Thinking


class Judged(Section):
    """What every `[[validation]]` says."""

    metrics: tuple[Text, ...] = Field(
        min_length=1, description="the metrics this validator must answer", examples=[["delivered", "tests"]]
    )
    name: Text | None = Field(
        default=None,
        description="names the result file; the mode when absent",
        pattern=r"^[A-Za-z0-9_-]+$",
        max_length=100,
        examples=["scope"],
    )


class Script(Judged):
    """A validator that is an executable."""

    mode: Literal["script"] = Field(description="any executable that answers with metrics", examples=["script"])
    command: Text = Field(description="path of the executable, or of a .py file", examples=["validator.py"])
    timeout: Annotated[Number, Field(gt=0, le=1_000_000)] | None = Field(
        default=None, description="seconds it may take, 600 when absent", examples=[600]
    )
    inputs: tuple[Text, ...] = Field(
        default=(),
        description="files, directories or glob patterns it reads; editing one scores again",
        examples=[["data/expected.json"]],
    )


class Judge(Judged):
    """A validator that is a pinned agent call."""

    mode: Literal["judge"] = Field(description="a model that reads declared pieces", examples=["judge"])
    rubric: Text = Field(description="path of what the judge is told", examples=["rubric.md"])
    provider: Text = Field(description="the judge's provider", examples=["anthropic"])
    model: Text = Field(description="the judge's model", examples=["claude-opus"])
    thinking: Thinking = Field(description="the judge's thinking level", examples=["off"])
    pieces: tuple[Literal["prompt", "response", "diff"], ...] = Field(
        default=("prompt", "response", "diff"),
        min_length=1,
        description="what the judge reads",
        examples=[["response"]],
    )


class Form(Judged):
    """A validator that is a person."""

    mode: Literal["form"] = Field(description="a blind form that people fill", examples=["form"])


class CustomMetrics(Judged):
    """A validator that asserts on a metrics file the run wrote."""

    mode: Literal["custom-metrics"] = Field(description="assertions on a file", examples=["custom-metrics"])
    path: Text = Field(
        default="custom_metrics.json",
        description="the metrics file, relative to the tree",
        examples=["out/metrics.json"],
    )
    assertions: tuple[Assertion, ...] = Field(
        min_length=1, description="what must hold", examples=[[{"metric": "tests_failed", "equals": 0}]]
    )


Validation = Annotated[Script | Judge | Form | CustomMetrics, Field(discriminator="mode")]
