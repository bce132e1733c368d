"""The machine file as typed models: the one source of its parser and its reference table."""

from typing import Literal

from pydantic import Field

from trysquare.scenario.section import Number, Section, Text, Whole


class Defaults(Section):
    """`[defaults]`: what a scenario does not say about load, and where work is done."""

    workdir: Text | None = Field(
        default=None,
        description="directory for clones and stores; the user's cache when absent",
        examples=["~/trysquare-work"],
    )
    concurrency: Whole | None = Field(default=None, ge=1, le=10_000, description="runs at the same time", examples=[4])
    timeout: Number | None = Field(
        default=None, gt=0, le=10_000_000, description="seconds one run may take", examples=[900]
    )
    attempts: Whole | None = Field(
        default=None, ge=1, le=100, description="launches of a run while nothing was produced", examples=[3]
    )
    stream_limit: Number | None = Field(
        default=None,
        ge=0.01,
        le=100_000,
        description="MB of the agent's stream that are kept before it is stopped",
        examples=[50],
    )


class Isolation(Section):
    """`[isolation]`: how a run is separated from the machine."""

    backend: Literal["none"] = Field(default="none", description="only `none` for now", examples=["none"])


class MachineFile(Section):
    """The machine file."""

    repos: dict[str, Text] = Field(
        default={}, description="name of a repository = directory or git URL", examples=[{"my-repo": "~/src/my-repo"}]
    )
    harness: dict[str, Text] = Field(
        default={},
        description="name of a harness repository = directory or git URL",
        examples=[{"toolkit": "~/src/toolkit"}],
    )
    defaults: Defaults = Field(default=Defaults(), description="load and work directory")
    isolation: Isolation = Field(default=Isolation(), description="separation of runs")
