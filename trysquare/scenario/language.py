"""The scenario file as typed models: the one source of its parser, its JSON Schema and its reference tables.

A model says what one section may hold and which type each key has; rules between sections are in `checks`. Every
field carries a description and an example, which is what a refusal shows as the thing to write.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from trysquare.scenario.section import Flag, Number, Section, Text, Thinking, Whole
from trysquare.scenario.validators import Validation


class Header(Section):
    """`[scenario]`: what the experiment is called and why it is made. No part of any fingerprint."""

    name: Text | None = Field(
        default=None,
        description="used in directory names and run ids; the file's stem when absent",
        examples=["rule-or-not"],
    )
    title: Text | None = Field(
        default=None, description="one line for headers and pages", examples=["Does the rule help?"]
    )
    hypothesis: Text | None = Field(
        default=None, description="path of the text written before measuring", examples=["hypothesis.md"]
    )


class Task(Section):
    """`[task]`: the repository, the state it is measured at, and what the agent is asked."""

    repo: Text = Field(
        description="logical name of the repository, resolved by [repos] of the machine file", examples=["my-repo"]
    )
    etalon: Text = Field(description="the measured state: a git tag, or a commit in full", examples=["v1.0"])
    prompt: Text | None = Field(
        default=None, description="what the agent is asked: a text, or the path of a file", examples=["prompts/task.md"]
    )
    test_command: Text | None = Field(
        default=None,
        description="the suite that decides the metric tests; no shell runs it",
        examples=["python3 -m unittest"],
    )
    prepare: tuple[Text, ...] | None = Field(
        default=None,
        description="commands to run before the suite; their failing means that nobody judged",
        examples=[["npm ci --offline"]],
    )
    artefacts: tuple[Text, ...] | None = Field(
        default=None,
        description="glob patterns of by-products of running the task; they filter verdicts, never what is recorded",
        examples=[["__pycache__", "node_modules/"]],
    )
    collect: tuple[Text, ...] = Field(
        default=(),
        description="glob patterns of files of the finished tree to archive",
        examples=[["custom_metrics.json"]],
    )
    setup: Text | None = Field(
        default=None,
        description="path of an executable run in the clone before the agent; its changes are committed",
        examples=["setup.sh"],
    )
    history: Flag = Field(
        default=True,
        description="whether the clone holds the ancestors of the etalon, or one commit alone",
        examples=[False],
    )


class Agent(Section):
    """`[agent]`: who is measured. Nothing here is ever inherited from the machine."""

    provider: Text = Field(
        description="the provider, as the agent knows it; `rehearsal` plays a script at no cost", examples=["anthropic"]
    )
    model: Text = Field(description="a pattern that the agent resolves to one model", examples=["claude-sonnet"])
    thinking: Thinking = Field(description="the thinking level of the baseline", examples=["off"])
    kind: Literal["pi"] = Field(default="pi", description="which agent adapter launches it", examples=["pi"])
    image: Text | None = Field(default=None, description="a container image; not available yet", examples=["image:tag"])


class Protocol(Section):
    """`[protocol]`: how often, and under which load."""

    repetitions: Annotated[Whole, Field(ge=1, le=100_000)] = Field(
        description="runs of each cell, declared in advance", examples=[10]
    )
    concurrency: Annotated[Whole, Field(ge=1, le=10_000)] | None = Field(
        default=None, description="runs at the same time; then the machine file's, then 5", examples=[4]
    )
    timeout: Annotated[Number, Field(gt=0, le=10_000_000)] | None = Field(
        default=None, description="seconds one run may take; then the machine file's, then 900", examples=[900]
    )
    attempts: Annotated[Whole, Field(ge=1, le=100)] | None = Field(
        default=None,
        description="launches of a run while nothing was produced; then the machine file's, then 3",
        examples=[3],
    )
    max_cost: Annotated[Number, Field(gt=0)] | None = Field(
        default=None, description="no further run is launched once the matrix has spent this much", examples=[25.0]
    )


class Lines(Section):
    """The keys that change a configuration, as presets hold them."""

    prompt: Text | None = Field(
        default=None, description="another prompt: a text or a path", examples=["prompts/short.md"]
    )
    context: Text | None = Field(
        default=None,
        description="text or path of an AGENTS.md; `@repository` keeps the repository's own context files in force",
        examples=["context/rule.md"],
    )
    system: Text | None = Field(
        default=None, description="text or path of a system prompt", examples=["system/terse.md"]
    )
    thinking: Thinking | None = Field(default=None, description="another thinking level", examples=["high"])
    harness: tuple[Text, ...] | None = Field(
        default=None, description="bricks to load, by the names they have in [harness]", examples=[["skills"]]
    )
    history: Flag | None = Field(default=None, description="another answer to [task] history", examples=[False])
    setup: Text | None = Field(default=None, description="another [task] setup", examples=["setup.sh"])


class Delta(Lines):
    """`[variants.<name>]`, `[values.<axis>.<value>]`: one configuration as a difference from the baseline."""

    use: tuple[Text, ...] = Field(default=(), description="presets whose lines are taken over", examples=[["strict"]])
    description: str | None = Field(
        default=None,
        description="prose about the cell, no part of its fingerprint",
        examples=["the rule, worded shortly"],
    )


class Include(Delta):
    """A cell added after the grid as a table with lines of its own."""

    name: Text | None = Field(default=None, description="the name of the cell", examples=["rule, short"])


def _shape(value: Any) -> str:
    return "table" if isinstance(value, dict | BaseModel) else "list"


Entry = Annotated[
    Annotated[tuple[Text, ...], Tag("list")] | Annotated[Include, Tag("table")],
    Discriminator(_shape),
]


class Axes(Section):
    """`[axes]`: a grid. Every key but `exclude` and `include` is an axis: its name, and the list of its values."""

    model_config = ConfigDict(extra="allow", frozen=True, protected_namespaces=())
    __pydantic_extra__: dict[str, tuple[Text, ...]] = Field(init=False)

    exclude: tuple[dict[str, Text], ...] = Field(
        default=(), description="partial assignments whose cells are left out", examples=[[{"context": "rule"}]]
    )
    include: tuple[Entry, ...] = Field(
        default=(),
        description="cells added after the grid: lists of presets, or tables",
        examples=[[["strict"], {"name": "short", "prompt": "Fix it."}]],
    )

    @property
    def grid(self) -> dict[str, tuple[str, ...]]:
        """The axes and their values, in declared order."""
        return dict(self.__pydantic_extra__)


class Brick(Section):
    """`[harness.<brick>]`: something a cell gives its agent, or puts in its tree."""

    repo: Text | None = Field(
        default=None,
        description="pinned repository, by its name under [harness] of the machine file",
        examples=["toolkit"],
    )
    tag: Text | None = Field(default=None, description="the tag that pins it", examples=["v2.1"])
    load: Text | None = Field(
        default=None,
        description="the extension: a file beside the scenario, or a path in the pinned repository",
        examples=["extension.ts"],
    )
    paths: tuple[Text, ...] | None = Field(
        default=None, description="files and directories of skills or agents", examples=[["skills/review"]]
    )
    kind: Literal["skills", "agents", "files"] | None = Field(
        default=None,
        description="what the brick holds; `skills` for the brick of that name, else `agents`",
        examples=["skills"],
    )
    model: Text | None = Field(
        default=None, description="model written into every agent file of the brick", examples=["claude-haiku"]
    )
    files: dict[str, Text] | None = Field(
        default=None,
        description="destination in the tree = file beside the scenario; committed above the etalon",
        examples=[{"tests/test_probe.py": "probe.py"}],
    )


def _reference_shape(value: Any) -> str:
    return "table" if isinstance(value, dict) else "name"


Reference = Annotated[
    Annotated[Text, Tag("name")] | Annotated[dict[str, Text], Tag("table")],
    Discriminator(_reference_shape),
]


class Verdict(Section):
    """`[verdict]`: what a gap is judged on, and against which cell."""

    criterion: Text = Field(description="the declared metric that decides", examples=["delivered"])
    reference: Reference = Field(
        description="the cell that the others are compared with: its name, or a value for every axis",
        examples=["baseline"],
    )
    validity: tuple[Text, ...] = Field(
        default=(), description="declared metrics that must be true for a run to count", examples=[["tests"]]
    )
    draws: Annotated[Whole, Field(ge=100, le=10_000_000)] = Field(
        default=10_000, description="resamplings of a gap", examples=[10_000]
    )
    seed: Annotated[Whole, Field(ge=0, lt=2**63)] = Field(
        default=20_260_729, description="of the resampling", examples=[20_260_729]
    )


class ScenarioFile(Section):
    """A scenario: one self-contained experiment."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        title="trysquare scenario",
        json_schema_extra={"required": ["task", "agent", "protocol", "validation", "verdict"]},
    )

    scenario: Header = Field(default=Header(), description="what the experiment is called")
    task: Task | None = Field(default=None, description="the repository and the task")
    agent: Agent | None = Field(default=None, description="who is measured")
    protocol: Protocol | None = Field(default=None, description="how often, under which load")
    axes: Axes = Field(default=Axes(), description="a grid of cells")
    values: dict[str, dict[str, Delta]] = Field(default={}, description="what each value of an axis changes")
    variants: dict[str, Delta] = Field(default={}, description="cells by name")
    presets: dict[str, Lines] = Field(default={}, description="lines that cells share")
    harness: dict[str, Brick] = Field(default={}, description="bricks that cells load")
    validation: tuple[Validation, ...] | None = Field(
        default=None, description="how runs become metrics", json_schema_extra={"minItems": 1}
    )
    verdict: Verdict | None = Field(default=None, description="how gaps are judged")
