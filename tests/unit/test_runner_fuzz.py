"""Bad input: whatever is done to a valid experiment gives a plan or a clear sentence, and nothing is written."""

import copy
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scenarios import dumps, place, repository, scenario, small, write

from trysquare import runner
from trysquare.errors import TrysquareError

EXAMPLES = 10_000 if os.environ.get("TRYSQUARE_NIGHTLY") else 500

FUZZ = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)

MACHINE = {
    "repos": {"counter": "repo", "far": "https://host/far.git"},
    "harness": {"kit": "repo"},
    "defaults": {"workdir": "work", "concurrency": 2, "timeout": 5, "attempts": 1, "stream_limit": 2},
    "isolation": {"backend": "none"},
}

WORDS = [
    *(
        "",
        " ",
        "..",
        ".",
        "/",
        "-x",
        "~",
        "$HOME",
        "a/b.md",
        "./data",
        "/dev/zero",
        "v1",
        "main",
        "0" * 40,
        "plain",
        "off",
    ),
    *(
        "high",
        "counter",
        "skills",
        "probe",
        "prompts/fix.md",
        "@repository",
        "a / b",
        "x" * 300,
        "é" * 120,
        "\0",
        "a\nb",
    ),
    *(
        "*",
        "**",
        "[",
        "{x}",
        "'",
        '"',
        "$(x)",
        "a && b",
        "\u202e",
        "🜁",
        "\x7f",
        "script",
        "judge",
        "files",
        "\\",
        "kit",
    ),
    *(
        "https://host/x",
        "git@host:x",
        "ftp://h",
        "https://u:p@h/x",
        "(",
        "(a+)+$",
        "inf",
        "../../..",
        "con",
        "%s",
        "{0}",
    ),
]

scalars = st.one_of(
    st.sampled_from(WORDS),
    st.text(max_size=8),
    st.integers(-3, 5),
    st.sampled_from([2**63, 10**30, -1, 0]),
    st.floats(),
    st.booleans(),
)
junk = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=5,
)


def places(tables: Any, path: tuple = ()) -> Iterator[tuple]:
    """Every path of keys and positions into nested tables."""
    items = tables.items() if isinstance(tables, dict) else enumerate(tables) if isinstance(tables, list) else ()
    for name, inner in items:
        yield (*path, name)
        yield from places(inner, (*path, name))


@st.composite
def mutated(draw: st.DrawFn, bases: list[dict[str, Any]]) -> str:
    """A valid file with a few things wrong, mostly in its tables and sometimes in its text."""
    raw = copy.deepcopy(draw(st.sampled_from(bases)))
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        *keys, last = draw(st.sampled_from(list(places(raw)) or [("x",)]))
        holder = raw
        for name in keys:
            holder = holder[name]
        act = draw(st.sampled_from(["replace", "replace", "drop", "rename", "add", "swap"]))
        if act == "replace" or last not in (holder if isinstance(holder, dict) else range(len(holder))):
            holder[last] = draw(junk)
        elif act == "drop":
            del holder[last]
        elif act == "swap":
            other = draw(st.sampled_from(list(places(raw))))
            found = raw
            for name in other:
                found = found[name]
            holder[last] = copy.deepcopy(found)
        elif isinstance(holder, dict):
            value = holder.pop(last) if act == "rename" else draw(junk)
            holder[draw(st.sampled_from(WORDS) | st.text(max_size=6))] = value
        else:
            holder.append(draw(junk))
    text = dumps(raw)
    if draw(st.integers(0, 9)) == 0:
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(WORDS)) + text[at + draw(st.integers(0, 5)) :]
    return text


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = place(tmp_path_factory.mktemp("experiment"))
    repository(directory / "repo")
    for name in ("rule.toml", "trysquare.toml"):
        (directory / name).touch()
    before = listing(directory)
    yield directory
    assert listing(directory) == before


def listing(directory: Path) -> dict[str, Any]:
    """Everything below a directory with its size and time, apart from the two files that change all the time."""
    return {
        str(path): (path.lstat().st_mtime_ns if path.is_file() else None, path.lstat().st_mode)
        for path in sorted(directory.rglob("*"))
        if path.name not in ("rule.toml", "trysquare.toml")
    }


def plan_or_sentence(here: Path, **settings: Any) -> None:
    config = {"scenario": str(here / "rule.toml"), "output": str(here / "results"), **settings}
    try:
        for plan in runner.resolve_all(runner.Settings.of(config)):
            runner.refuse_foreign(plan)
            runner.refuse_measured(plan)
            assert runner.header(plan)
    except TrysquareError as refusal:
        text = str(refusal)
        assert text.strip() and "Traceback" not in text and "pydantic" not in text
        assert all(len(row) < 2000 for row in text.splitlines())


@FUZZ
@given(text=mutated([scenario(), small()]))
def test_a_scenario_with_anything_wrong_gives_a_plan_or_a_sentence(here: Path, text: str) -> None:
    (here / "trysquare.toml").write_text(dumps(MACHINE))
    write(here, text)
    plan_or_sentence(here)


@FUZZ
@given(text=mutated([MACHINE]))
def test_a_machine_file_with_anything_wrong_gives_a_plan_or_a_sentence(here: Path, text: str) -> None:
    (here / "trysquare.toml").write_text(text)
    write(here, small())
    plan_or_sentence(here)


@FUZZ
@given(config=st.dictionaries(st.sampled_from([*runner.settings.KEYS, "nonsense"]), junk, max_size=4))
def test_a_config_with_anything_in_it_gives_settings_or_a_sentence(config: dict[str, Any]) -> None:
    try:
        runner.Settings.of(config)
    except TrysquareError as refusal:
        assert str(refusal).startswith("config: ")
