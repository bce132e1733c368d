"""The JSON Schema of the workflow config file: `python -m trysquare.runner.schema > FILE`."""

import sys
from io import StringIO
from typing import Any

from ruamel.yaml import YAML

from trysquare.runner.settings import KEYS, Kind


def schema() -> dict[str, Any]:
    """The JSON Schema of the config file: closed, and without the acts."""
    settings = {name: key for name, key in KEYS.items() if not key.act}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "trysquare workflow config",
        "type": "object",
        "additionalProperties": False,
        "required": ["scenario"],
        "properties": {name: {"description": key.description, **_kind(key.kind)} for name, key in settings.items()},
    }


def _kind(kind: Kind) -> dict[str, Any]:
    kinds: dict[Kind, dict[str, Any]] = {
        "text": _text(),
        "texts": {"oneOf": [_text(), {"type": "array", "items": _text()}]},
        "whole": {"type": "integer", "minimum": 1},
        "seconds": {"type": "number", "exclusiveMinimum": 0},
        "flag": {"type": "boolean"},
        "layout": {"enum": ["grouped", "blind"]},
    }
    return kinds[kind]


def _text() -> dict[str, Any]:
    return {"type": "string", "minLength": 1}


def text() -> str:
    """The schema as the YAML file that editors read."""
    writer, written = YAML(typ="safe", pure=True), StringIO()
    writer.width, writer.default_flow_style = 120, False
    writer.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    writer.dump(schema(), written)
    return written.getvalue()


if __name__ == "__main__":
    sys.stdout.write(text())
