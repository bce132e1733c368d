"""The reference tables of the guide, from the typed source: `python -m trysquare.reference docs/reference`."""

import argparse
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from trysquare.assay import Assay
from trysquare.cli import parser
from trysquare.config.language import Defaults, Isolation, MachineFile
from trysquare.files import write_text
from trysquare.refusals import toml
from trysquare.runner.settings import KEYS, Kind
from trysquare.scenario import language, validators
from trysquare.scenario.assertions import Assertion
from trysquare.sentences import Source

GENERATED = "<!-- made by `python -m trysquare.reference docs/reference`: edit the source it reads -->\n"

SCENARIO: Mapping[str, type[BaseModel]] = {
    "[scenario]": language.Header,
    "[task]": language.Task,
    "[agent]": language.Agent,
    "[protocol]": language.Protocol,
    "[axes]": language.Axes,
    "[variants.<name>] and [values.<axis>.<value>]": language.Delta,
    "[presets.<name>]": language.Lines,
    "include, as a table": language.Include,
    "[harness.<brick>]": language.Brick,
    "[[validation]], mode script": validators.Script,
    "[[validation]], mode judge": validators.Judge,
    "[[validation]], mode form": validators.Form,
    "[[validation]], mode custom-metrics": validators.CustomMetrics,
    "assertions of custom-metrics": Assertion,
    "[verdict]": language.Verdict,
}
"""The tables of a scenario and the models that read them."""

MACHINE: Mapping[str, type[BaseModel]] = {
    "[repos] and [harness]": MachineFile,
    "[defaults]": Defaults,
    "[isolation]": Isolation,
}

MODULE = re.compile(r"\b(?:[a-z_]+\.)+(?=[A-Z])")
"""The modules before the name of a class."""

SECTION = re.compile(r"\n\n[A-Z][a-z]+\n-+\n")
"""The heading of a section of a docstring."""

TABLE_NAME, CODE = re.compile(r"\[+[^\]]+\]+"), r"`\g<0>`"

SETTINGS: Mapping[Kind, str] = {
    "text": "text",
    "texts": "text, or list of texts",
    "whole": "whole number, 1 or more",
    "seconds": "number, more than 0",
    "flag": "true or false",
    "layout": "one of `grouped`, `blind`",
}

BOUNDS = {
    "minimum": "{} or more",
    "exclusiveMinimum": "more than {}",
    "maximum": "{} or less",
    "exclusiveMaximum": "less than {}",
}


@cache
def pages() -> dict[str, str]:
    """Every page of the reference by its file name."""
    return {
        "scenario.md": _page(
            "Scenario keys",
            "A key without a default is optional, unless it is marked as required.",
            _sections(SCENARIO),
        ),
        "machine.md": _page(
            "Machine file keys",
            "`trysquare.toml` holds addresses, and fallbacks for the load.",
            _sections(MACHINE, skip=("defaults", "isolation")),
        ),
        "config.md": _page(
            "Workflow config keys",
            "In `config/config.yaml`, or for one launch as `--config key=value`. An act is refused in the file.",
            [_table(("key", "holds", "meaning"), _settings())],
        ),
        "commands.md": _page(
            "Commands",
            "Exit code 0 means done, 1 a refusal or an incomplete result, 2 a misuse of the command line.",
            _commands(),
        ),
        "assay.md": _page(
            "What a validator may ask",
            "The run that a Python validator is given, `trysquare.assay.Assay`. Attributes cost nothing, methods do "
            "work; `CannotJudge` leaves the metric unjudged. The whole interface is in the [API](../api.md).",
            _assay(),
        ),
        "refusals.md": _page(
            "Every refusal",
            "What trysquare refuses with, by where it comes from; `…` stands for what is filled in. A sentence says "
            "what to write instead, and the frequent ones are explained in [Troubleshooting](../troubleshooting.md).",
            _refusals(),
        ),
    }


def _page(title: str, intro: str, parts: Iterable[str]) -> str:
    return "\n".join([GENERATED, f"# {title}\n", f"{intro}\n", *parts])


def _assay() -> Iterator[str]:
    public = {name: part for name, part in vars(Assay).items() if not name.startswith("_")}
    attributes = {name: part.fget for name, part in public.items() if isinstance(part, property) and part.fget}
    methods = {name: getattr(Assay, name) for name in public if name not in attributes}
    yield "## Attributes\n"
    rows = [
        (f"`{name}`", f"`{_signature(read).partition(' -> ')[2]}`", _said(read)) for name, read in attributes.items()
    ]
    yield _table(("attribute", "type", "meaning"), rows)
    yield "## Methods\n"
    yield _table(
        ("method", "meaning"), [(f"`{name}{_signature(each)}`", _said(each)) for name, each in methods.items()]
    )


def _signature(function: Callable[..., Any]) -> str:
    """Arguments and result of a function, as its callers write them."""
    written = str(inspect.signature(function)).replace("(self, ", "(").replace("(self)", "()")
    return MODULE.sub("", written).replace("'", "")


def _said(documented: Any) -> str:
    """What a docstring says ahead of its sections, in one line."""
    return " ".join(SECTION.split(inspect.getdoc(documented) or "")[0].split())


def _refusals() -> Iterator[str]:
    for topic, sentences in Source.read().by_topic().items():
        yield f"## {topic}\n"
        yield "".join(f"- ``` {sentence} ```\n" for sentence in sentences)


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    names = tuple(head)
    lines = [" | ".join(cell.replace("|", "\\|") for cell in line) for line in (names, ("---",) * len(names), *rows)]
    return "".join(f"| {line} |\n" for line in lines)


def _sections(models: Mapping[str, type[BaseModel]], skip: Iterable[str] = ()) -> Iterator[str]:
    head = ("key", "holds", "default", "meaning", "example")
    for title, model in models.items():
        yield f"## {TABLE_NAME.sub(CODE, title)}\n"
        yield " ".join((model.__doc__ or "").split("\n\n")[0].split()) + "\n"
        rows = [row for row in _keys(model) if row[0].strip("`") not in skip]
        yield _table(head, rows)


def _keys(model: type[BaseModel]) -> Iterator[tuple[str, ...]]:
    schema = model.model_json_schema()
    required = schema.get("required", ())
    for name, field in model.model_fields.items():
        default = "required" if name in required else _default(field.default)
        example = f"`{toml(field.examples[0])}`" if field.examples else ""
        yield (f"`{name}`", _holds(schema["properties"][name]), default, field.description or "", example)


def _default(value: Any) -> str:
    return "" if value is None or isinstance(value, BaseModel) or value in ((), {}) else f"`{toml(value)}`"


def _holds(schema: Mapping[str, Any]) -> str:
    """What a value may be, as its JSON Schema says it."""
    if "const" in schema or "enum" in schema:
        allowed = schema.get("enum", [schema.get("const")])
        return f"`{allowed[0]}`" if len(allowed) == 1 else f"one of {', '.join(f'`{each}`' for each in allowed)}"
    for key in ("anyOf", "oneOf"):
        if key in schema:
            options = dict.fromkeys(_holds(option) for option in schema[key] if option.get("type") != "null")
            return " or ".join(options)
    kind = schema.get("type")
    if kind == "array":
        return f"list of: {_holds(schema['items'])}" if "items" in schema else "list"
    if kind == "object" or "$ref" in schema:
        inner = schema.get("additionalProperties")
        return f"table of names, each with: {_holds(inner)}" if isinstance(inner, Mapping) and inner else "table"
    names = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    limits = [text.format(toml(schema[bound])) for bound, text in BOUNDS.items() if bound in schema]
    return ", ".join([names.get(str(kind), str(kind)), *limits])


def _settings() -> Iterator[tuple[str, ...]]:
    for name, key in KEYS.items():
        yield f"`{name}`", SETTINGS[key.kind], key.description + (" (an act)" if key.act else "")


def _commands() -> Iterator[str]:
    for command, made in _subparsers(parser()):
        yield f"## `trysquare {command}`\n"
        said = made.description or ""
        yield f"{said[:1].upper()}{said[1:]}.\n"
        actions = [action for action in made._actions if not isinstance(action, argparse._HelpAction)]
        yield _table(("argument", "meaning"), [(_argument(action), action.help or "") for action in actions])


def _subparsers(made: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in made._actions:
        if isinstance(action, argparse._SubParsersAction):
            helps = {each.dest: each.help for each in action._choices_actions}
            for name, command in action.choices.items():
                command.description = command.description or helps.get(name)
                yield name, command


def _argument(action: argparse.Action) -> str:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest).upper()
    if not action.option_strings:
        return f"`{value}`" if action.nargs not in ("?", "*") else f"`[{value}]`"
    return ", ".join(f"`{option} {value}`".replace(" `", "`") for option in action.option_strings)


def main(arguments: list[str]) -> None:
    """Write every page into a directory."""
    [directory] = arguments
    Path(directory).mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        write_text(Path(directory) / name, text)


if __name__ == "__main__":
    main(sys.argv[1:])
