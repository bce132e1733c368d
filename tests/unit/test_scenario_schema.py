"""The schema for editors is generated from the models that parse, and agrees with them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, ValidationError
from scenarios import scenario, small

from trysquare.config.language import MachineFile
from trysquare.files import dumps
from trysquare.scenario import language
from trysquare.scenario.language import ScenarioFile
from trysquare.scenario.schema import schema

ROOT = Path(__file__).resolve().parents[2]


def test_the_schema_in_the_repository_is_the_one_the_models_give() -> None:
    assert (ROOT / "workflow/schemas/scenario.schema.json").read_text() == dumps(schema())


@pytest.mark.parametrize("raw", [scenario(), small()])
def test_the_schema_accepts_what_the_models_accept(raw: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    jsonschema.validate(raw, schema())
    ScenarioFile.model_validate(raw)


WRONG = [
    ("task", {"repo": 3}),
    ("task", {"more": 1}),
    ("agent", {"thinking": "loud"}),
    ("protocol", {"repetitions": 0}),
    ("protocol", {"repetitions": "3"}),
    ("axes", {"mood": "x"}),
    ("axes", {"mood": [1]}),
    ("axes", {"include": [3]}),
    ("variants", {"x": {"skills": []}}),
    ("presets", {"x": {"use": ["y"]}}),
    ("harness", {"x": {"kind": "x"}}),
    ("validation", []),
    ("validation", [{"mode": "x", "metrics": ["a"]}]),
    ("validation", [{"mode": "form", "metrics": []}]),
    ("verdict", {"reference": 3}),
]


@pytest.mark.parametrize(("section", "change"), WRONG)
def test_the_schema_refuses_what_the_models_refuse(section: str, change: Any) -> None:
    raw = scenario()
    raw[section] = change if isinstance(change, list) else {**raw[section], **change}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(raw, schema())
    if raw[section]:
        with pytest.raises(ValidationError):
            ScenarioFile.model_validate(raw)


def models(module: Any) -> list[type[BaseModel]]:
    return [found for found in vars(module).values() if isinstance(found, type) and issubclass(found, BaseModel)]


def test_every_key_has_a_description_and_an_example_of_its_own_type() -> None:
    seen: dict[type[BaseModel], None] = {}

    def visit(model: type[BaseModel]) -> None:
        if model not in seen:
            seen[model] = None
            for field in model.model_fields.values():
                for part in _models_in(field.annotation):
                    visit(part)

    for model in (*models(language), MachineFile):
        visit(model)
    for model in seen:
        for name, field in model.model_fields.items():
            assert field.description, (model, name)
            if not _models_in(field.annotation):
                assert field.examples, (model, name)
                model.__pydantic_validator__.validate_assignment(model.model_construct(), name, field.examples[0])


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [model for part in getattr(annotation, "__args__", ()) for model in _models_in(part)]


def test_the_schema_is_plain_json() -> None:
    assert json.loads(dumps(schema()))["title"] == "trysquare scenario"
