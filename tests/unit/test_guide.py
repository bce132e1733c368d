"""Every example of the guide and the README is read, run or asked for, so that none can go stale."""

import argparse
import contextlib
import io
import re
import shlex
import subprocess
import sys
import textwrap
import tomllib
from pathlib import Path

import pytest

from trysquare import scenario
from trysquare.assay import Assay
from trysquare.cli import parser
from trysquare.runner.settings import KEYS

ROOT = Path(__file__).resolve().parents[2]
GUIDE = sorted(path for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")] if path.parent.name != "reference")
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)


def blocks(path, language):
    """The code blocks of one language on a page; the empty one is that of commands and trees."""
    found = FENCE.findall(path.read_text(encoding="utf-8"))
    return [textwrap.dedent(text) for _, named, text in found if named == language]


def commands():
    """Every command line of the guide, without what is said about it."""
    for path in GUIDE:
        for block in blocks(path, ""):
            for line in block.splitlines():
                words = (
                    shlex.split(line.replace("…", "x"), comments=True)
                    if re.match(r"(\S*/)?(trysquare|snakemake) ", line)
                    else []
                )
                if words:
                    yield pytest.param(words, id=f"{path.name}: {' '.join(words)}")


def misuse(words):
    """What the console command says against its arguments; empty when it takes them."""
    said = io.StringIO()
    with contextlib.redirect_stderr(said):
        try:
            parser().parse_args(words)
        except SystemExit:
            return said.getvalue()
    return ""


@pytest.mark.parametrize("words", [*commands()])
def test_a_command_of_the_guide_is_one_that_is_understood(words):
    name, *rest = words
    if name.endswith("trysquare"):
        # `[...]` may be left out and `a|b` is a choice: the first of it is tried.
        given = [word.strip("[]").split("|")[0] for word in rest]
        assert misuse(given) == ""
        return
    targets = set(
        re.findall(
            r"^rule (\w+):",
            "".join(p.read_text() for p in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]),
            re.MULTILINE,
        )
    )
    before, _, settings = " ".join(rest).partition(" --config ")
    options = argparse.ArgumentParser(exit_on_error=False)
    for option in ("--cores", "--profile", "--executor", "--sdm", "--report"):
        options.add_argument(option)
    options.add_argument("-n", action="store_true")
    options.add_argument("targets", nargs="*")
    asked = options.parse_args(before.split())
    assert asked.targets and set(asked.targets) <= targets
    assert {setting.partition("=")[0] for setting in settings.split()} <= set(KEYS)


def test_the_guide_shows_commands_at_all():
    assert len(list(commands())) > 25


BASE = {
    "scenario": {"title": "t"},
    "task": {"repo": "r", "etalon": "v1", "prompt": "Do it.", "test_command": "true"},
    "agent": {"provider": "anthropic", "model": "claude-sonnet", "thinking": "off"},
    "protocol": {"repetitions": 4},
    "variants": {"a": {}, "b": {"context": "Be brief."}},
}


def snippets():
    for path in GUIDE:
        for number, text in enumerate(blocks(path, "toml")):
            # A machine file, an answered form or a rehearsal, whose own tests read them.
            if not set(tomllib.loads(text)) & {"repos", "defaults", "runs", "play"}:
                yield pytest.param(text, id=f"{path.stem}-{number}")


@pytest.mark.parametrize("text", [*snippets()])
def test_a_toml_example_is_a_scenario_or_a_part_of_one(text, tmp_path):
    (tmp_path / "rubric.md").write_text("Is it usable?")
    (tmp_path / "rule.md").write_text("Stay in scope.")
    (tmp_path / "validator.py").write_text("")
    read = tomllib.loads(text)
    declared = [name for each in read.get("validation", ()) for name in each.get("metrics", ())]
    whole = read if "task" in read else {**BASE, **read}
    whole.setdefault("verdict", {"criterion": declared[0] if declared else "tests", "reference": "a"})
    path = tmp_path / "scenario.toml"
    path.write_text(as_toml(whole))
    loaded = scenario.load(path)
    assert len(loaded.cells) == 2
    assert {name for validator in loaded.validators for name in validator.metrics} >= set(declared)


def as_toml(tables):
    """A scenario as text; lists of tables and tables of tables are the only nesting."""
    from trysquare.refusals import toml

    return "\n".join(f"{name} = {toml(value)}" for name, value in tables.items())


def test_the_validator_of_the_guide_judges_what_it_says(tmp_path):
    [text] = blocks(ROOT / "docs" / "validators.md", "python")
    written = {"__name__": "guide"}
    exec(compile(text, "validators.md", "exec"), written)
    [line] = re.findall(
        r"`(evaluate\(Assay\.fake\(.*?\)\))`", (ROOT / "docs" / "validators.md").read_text(encoding="utf-8")
    )
    answers = eval(line, {**written, "Assay": Assay})
    assert {name: getattr(value, "value", value) for name, value in answers.items()} == {
        "delivered": True,
        "in_scope": True,
        "tests": True,
    }


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md"])
def test_every_file_a_page_for_contributors_names_is_there(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:trysquare|tests|docs|workflow|examples|benchmarks)/[\w./-]+)`", text))
    assert not [name for name in named if not (ROOT / name).exists()]
    linked = set(re.findall(r"\]\(([\w./-]+?)(?:#[\w-]+)?\)", text))
    assert linked and not [name for name in linked if not (ROOT / name).exists()]


def test_the_table_of_targets_is_that_of_the_workflow():
    command = [sys.executable, "-m", "snakemake", "--list-target-rules"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    page = (ROOT / "docs" / "workflow.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == sorted(listed)
