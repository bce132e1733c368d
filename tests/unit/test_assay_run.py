import inspect
from pathlib import Path
from typing import Any

import pytest

from trysquare.assay import Assay, CannotJudge, Metric, ProbeTimeout, ToolCall
from trysquare.assay.patterns import is_artefact, selects

ATTRIBUTES = {name for name, value in vars(Assay).items() if isinstance(value, property)}
METHODS: dict[str, tuple[Any, ...]] = {
    "tests": (),
    "probe": ("true",),
    "sources_at_etalon": ("*.py",),
    "tool_calls": (),
    "first_write": ("a",),
}


def ask(run: Assay, part: str) -> Any:
    value = getattr(run, part)
    return value(*METHODS[part]) if part in METHODS else value


def test_the_table_of_methods_is_complete() -> None:
    public = {name for name, value in vars(Assay).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert public == set(METHODS)


@pytest.mark.parametrize("part", sorted(ATTRIBUTES | set(METHODS)))
def test_a_fake_refuses_whatever_it_was_not_given(part: str) -> None:
    with pytest.raises(CannotJudge, match="was not given"):
        ask(Assay.fake(), part)


@pytest.mark.parametrize("part", sorted(ATTRIBUTES - {"given", "artefacts"}))
def test_a_key_the_context_lacks_is_refused_by_name(part: str) -> None:
    key = {"files_at_etalon": "files", "skills_expanded": "session"}.get(part, part)
    with pytest.raises(CannotJudge, match=f"has no '{key}'"):
        ask(Assay({}), part)


def test_given_and_artefacts_are_empty_where_none_are_declared() -> None:
    assert Assay({}).given == frozenset()
    assert Assay({"touched": ["a"]}).artefacts == frozenset()


def test_an_experiment_without_a_suite_is_refused_and_not_scored_red() -> None:
    with pytest.raises(CannotJudge, match="has no 'test_command'"):
        Assay({"repo": "."}).tests()


def test_artefacts_are_the_touched_files_that_match_and_touched_stays_whole() -> None:
    touched = ["src/a.py", "src/__pycache__/a.pyc", "node_modules/x/y.js", "build/out/b.o", "notes.txt"]
    run = Assay({"touched": touched, "artefacts": ["__pycache__", "node_modules/", "build/*.o", "absent"]})
    assert run.artefacts == {"src/__pycache__/a.pyc", "node_modules/x/y.js", "build/out/b.o"}
    assert run.touched == set(touched)
    assert run.touched - run.artefacts == {"src/a.py", "notes.txt"}


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.pyc", "src/a.pyc", True),
        ("node_modules/", "web/node_modules/a.js", True),
        ("src/*", "src/deep/a.py", True),
        ("build/out", "build/out/a.o", False),
        ("a", "ab", False),
        ("A.PY", "a.py", False),
        ("", "a", False),
        ("/", "a", False),
    ],
)
def test_an_artefact_matches_the_whole_path_or_one_component(pattern: str, path: str, matches: bool) -> None:
    assert is_artefact(path, [pattern]) is matches


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("game/*.js", "game/a.js", True),
        ("game/*.js", "game/sub/a.js", False),
        ("*.js", "game/a.js", False),
        ("**/*.js", "a.js", True),
        ("game/**/*.js", "game/a.js", True),
        ("game/**/*.js", "game/one/two/a.js", True),
        ("game/**/*.js", "other/a.js", False),
        ("**", "any/where", True),
        ("game", "game/a.js", False),
    ],
)
def test_a_source_pattern_is_matched_component_by_component(pattern: str, path: str, matches: bool) -> None:
    assert selects(pattern, path) is matches


def test_the_attributes_read_the_context(tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text("Fix it.\n")
    (tmp_path / "response.md").write_text("")
    run = Assay(
        {
            "repo": "/x/repo",
            "etalon": {"tag": "v1", "checkout": "/x/source", "commit": "c" * 40},
            "prompt": str(tmp_path / "prompt.md"),
            "response": str(tmp_path / "response.md"),
            "cell": "rule / high",
            "repetition": 0,
            "test_command": "true",
            "touched": [],
            "files": ["a", "b"],
            "given": ["probe.py"],
            "declared": ["x", "y"],
            "collected": "/x/collected",
            "base_commit": "b" * 40,
            "session": "/x/session",
        }
    )
    assert (run.prompt, run.response) == ("Fix it.\n", "")
    assert (run.etalon.tag, run.etalon.checkout, run.etalon.commit) == ("v1", Path("/x/source"), "c" * 40)
    assert str(run.etalon) == "v1"
    assert (run.repo, run.collected, run.session) == (Path("/x/repo"), Path("/x/collected"), Path("/x/session"))
    assert (run.cell, run.repetition, run.test_command, run.base_commit) == ("rule / high", 0, "true", "b" * 40)
    assert (run.touched, run.files_at_etalon, run.given, run.declared) == (set(), ("a", "b"), {"probe.py"}, ("x", "y"))


def test_a_response_that_was_moved_away_is_refused_and_not_read_as_silence(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match=r"response of this run cannot be read: .*gone\.md"):
        _ = Assay({"response": str(tmp_path / "gone.md")}).response


def test_a_fake_answers_what_it_was_given_as_a_run_would() -> None:
    run = Assay.fake(touched=["a", "b"], artefacts={"b"}, files_at_etalon=["a"], response="done", tests=Metric(True))
    assert run.touched - run.artefacts == {"a"}
    assert run.files_at_etalon == ("a",)
    assert run.response == "done"
    assert run.tests().value is True


def test_a_fake_calls_a_part_that_is_a_function_with_the_arguments() -> None:
    def slow(command: str, **options: Any) -> Any:
        raise ProbeTimeout(f"{command} {options['timeout']}")

    with pytest.raises(ProbeTimeout, match=r"node probe\.js 5"):
        Assay.fake(probe=slow).probe("node probe.js", timeout=5)


def test_a_fake_works_out_the_first_write_from_its_calls() -> None:
    run = Assay.fake(tool_calls=[ToolCall("read", {"path": "a"}, False), ToolCall("edit", {"path": "a"}, False)])
    assert run.first_write("a") == 1
    assert run.first_write("b") is None
    assert Assay.fake(first_write=4).first_write("a") == 4


def test_a_fake_refuses_a_part_no_run_has() -> None:
    with pytest.raises(TypeError, match="an Assay has no touchd"):
        Assay.fake(touchd=["a"])
