"""The reference tables of the guide are what the typed source says."""

import argparse
import ast
import difflib
import re
from pathlib import Path

import pytest

from trysquare import reference
from trysquare.runner.settings import KEYS
from trysquare.scenario.language import ScenarioFile
from trysquare.sentences import ELSEWHERE, Source

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize("name", reference.pages())
def test_a_page_of_the_reference_is_the_one_the_source_gives(name):
    text = (DOCS / "reference" / name).read_text(encoding="utf-8")
    assert text == reference.pages()[name], "run: python -m trysquare.reference docs/reference"


def test_every_page_is_in_the_table_of_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf-8").splitlines()
    assert {f"reference/{Path(name).stem}" for name in reference.pages()} <= set(contents)


def test_every_section_every_key_and_every_command_is_listed(tmp_path):
    reference.main([str(tmp_path)])
    pages = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    for section in ScenarioFile.model_fields:
        assert f"[{section}" in pages["scenario.md"], section
    for model in [*reference.SCENARIO.values(), *reference.MACHINE.values()]:
        for key in model.model_fields:
            assert f"| `{key}` |" in pages["scenario.md"] + pages["machine.md"] or key in ("defaults", "isolation"), key
    assert all(f"| `{key}` |" in pages["config.md"] for key in KEYS)
    commands = next(each for each in reference.parser()._actions if isinstance(each, argparse._SubParsersAction))
    assert all(f"## `trysquare {command}`" in pages["commands.md"] for command in commands.choices)
    assert "`--ping`" in pages["commands.md"]


def test_a_table_says_what_a_key_may_hold():
    rows = {row[0]: row[1] for row in reference._keys(reference.SCENARIO["[protocol]"])}
    assert rows["`repetitions`"] == "whole number, 1 or more, 100000 or less"
    rows = {row[0]: (row[1], row[2]) for row in reference._keys(reference.SCENARIO["[agent]"])}
    assert rows["`thinking`"][0].startswith("one of `off`, `minimal`") and rows["`thinking`"][1] == "required"


@pytest.fixture(scope="module")
def source():
    return Source.read()


def test_every_sentence_that_is_explained_is_said_word_for_word_somewhere(source):
    explained = re.findall(r"^> ``` (.*) ```$", (DOCS / "troubleshooting.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(explained) > 20
    said = source.literals()
    for sentence in explained:
        if sentence not in said:
            [near] = difflib.get_close_matches(sentence, said, n=1, cutoff=0)
            pytest.fail(
                f"docs/troubleshooting.md: nothing says {sentence!r} any more; what is said now may be {near!r}"
            )


def test_a_sentence_is_found_wherever_the_code_words_it(source):
    def read(text):
        return Source({"repo/new.py": ast.parse(text)}).by_topic()["The repository and its trees"]

    base = "class TrysquareError(Exception): ...\nclass RepoError(TrysquareError): ...\nclass Torn(RepoError): ...\n"
    assert read(base + "def f(a):\n    raise Torn(f'{a} is torn: ' 'mend it.')") == ["… is torn: mend it."]
    assert read(base + "def f(a, r):\n    r.add('[x]', f'found {a}{a}; write one.')") == ["found …; write one."]
    assert read(
        base
        + "def f(a):\n    why = _why(a) or 'it is so'\n    raise RepoError(why)\ndef _why(a):\n    return f'{a} is odd'"
    ) == [
        "… is odd",
        "it is so",
    ]
    assert read(base + "def f(a):\n    raise x.Torn(together([f'{each} is bad' for each in a]))") == ["… is bad"]
    assert read(base + "def f(a):\n    no = []\n    no.append(f'{a} is no')\n    raise Torn('; '.join(no))") == [
        "… is no"
    ]
    assert sum(map(len, source.by_topic().values())) > 300


def test_every_module_that_refuses_has_its_topic(source):
    elsewhere = source.by_topic().get(ELSEWHERE)
    assert elsewhere is None, "give the modules that say this a place in TOPICS of trysquare/sentences.py"


def test_no_place_that_refuses_is_overlooked(source):
    """A refusal whose words cannot be found is one nobody can look up."""
    raising = {
        name
        for name, module in source.modules.items()
        for node in ast.walk(module)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if getattr(node.exc.func, "id", "") in source.errors
    }
    passing_on_what_a_validator_said = {"parity/scoring.py"}
    assert raising - set(source.sentences()) == passing_on_what_a_validator_said
