"""The JSON Schema of the scenario file, for editors: `python -m trysquare.scenario.schema > FILE`."""

import sys
from typing import Any

from trysquare.files import dumps
from trysquare.scenario.language import ScenarioFile


def schema() -> dict[str, Any]:
    """The JSON Schema that the models give; rules between sections are the loader's alone."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ScenarioFile.model_json_schema()}


if __name__ == "__main__":
    sys.stdout.write(dumps(schema()))
