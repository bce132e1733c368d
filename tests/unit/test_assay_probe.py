import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from trysquare.assay import Assay, CannotJudge, ProbeTimeout

PYTHON = sys.executable
PRINT = "import json, pathlib; print(json.dumps(sorted(str(p) for p in pathlib.Path('.').rglob('*') if p.is_file())))"


@pytest.fixture
def run(tmp_path: Path) -> Assay:
    root = tmp_path / "work" / "repo"
    (root / "tests" / "deep").mkdir(parents=True)
    (root / "game.py").write_text("def play():\n    return 1\n# a comment at the end")
    (root / "tests" / "test_a.py").write_text("")
    (root / "tests" / "deep" / "test_b.py").write_text("")
    (root / "away").symlink_to(tmp_path)
    return Assay({"repo": str(root)})


def contents(run: Assay) -> dict[str, bytes]:
    return {str(path.relative_to(run.repo)): path.read_bytes() for path in run.repo.rglob("*") if path.is_file()}


def test_a_probe_answers_with_the_json_it_prints(run: Assay) -> None:
    assert run.probe([PYTHON, "-c", "import json; print(json.dumps({'a': [1, None]}))"]) == {"a": [1, None]}


def test_a_probe_runs_in_a_copy_with_its_files_and_the_tree_stays_as_it_was(run: Assay) -> None:
    before = contents(run)
    answer = run.probe(
        f"{PYTHON} probe/ask.py",
        write={"probe/ask.py": f"open('litter', 'w').close()\n{PRINT}", "game.py": "changed"},
        drop=["tests/**/*.py", "away"],
    )
    assert answer == ["game.py", "litter", "probe/ask.py"]
    assert contents(run) == before
    assert [path.name for path in run.repo.parent.iterdir()] == ["repo"]


def test_what_is_appended_runs_in_the_scope_of_the_module_and_after_its_last_line(run: Assay) -> None:
    assert run.probe(f"{PYTHON} game.py", append={"game.py": "print(play() + 1)\n"}) == 2


def test_a_dropped_directory_is_gone(run: Assay) -> None:
    assert run.probe([PYTHON, "-c", PRINT], drop=["tests", "away"]) == ["game.py"]


def test_appending_to_a_file_that_is_gone_is_refused(run: Assay) -> None:
    with pytest.raises(CannotJudge, match=r"no file gone\.py"):
        run.probe("true", append={"gone.py": "x"})


@pytest.mark.parametrize("name", ["/etc/x", "../x", "a/../../x", "", "away/x"])
@pytest.mark.parametrize("how", ["write", "append"])
def test_a_probe_cannot_write_out_of_its_copy(run: Assay, tmp_path: Path, name: str, how: str) -> None:
    (tmp_path / "x").write_text("mine")
    changes: dict[str, Any] = {how: {name: "theirs"}}
    with pytest.raises(CannotJudge, match="tree"):
        run.probe("true", **changes)
    assert (tmp_path / "x").read_text() == "mine"


def test_a_file_the_agent_replaced_by_a_link_is_replaced_and_not_followed(run: Assay, tmp_path: Path) -> None:
    (tmp_path / "x").write_text("mine")
    (run.repo / "game.py").unlink()
    (run.repo / "game.py").symlink_to(tmp_path / "x")
    assert run.probe(f"{PYTHON} game.py", write={"game.py": "print(3)"}) == 3
    with pytest.raises(CannotJudge, match=r"no file game\.py"):
        run.probe("true", append={"game.py": "x"})
    assert (tmp_path / "x").read_text() == "mine"


@pytest.mark.parametrize("pattern", ["../*", "/x/*"])
def test_a_probe_cannot_drop_what_is_outside(run: Assay, pattern: str) -> None:
    with pytest.raises(CannotJudge, match="not a path inside"):
        run.probe("true", drop=pattern)


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("raise SystemExit('no such function')", "exited 1: no such function"),
        ("print('hello')", "printed no JSON"),
        ("pass", "printed no JSON"),
        ("print('NaN')", "NaN is not JSON"),
        ("print('[' * 100000)", "printed no JSON"),
        ("print('x' * (17 * 2**20))", "printed more than 16777216 bytes"),
    ],
)
def test_a_probe_that_does_not_answer_is_refused_with_what_it_said(run: Assay, code: str, why: str) -> None:
    with pytest.raises(CannotJudge, match=why) as refusal:
        run.probe([PYTHON, "-c", code])
    assert "\n" not in str(refusal.value) and len(str(refusal.value)) < 1000


def test_a_probe_that_cannot_be_started_is_refused(run: Assay) -> None:
    with pytest.raises(CannotJudge, match="`no-such-probe` cannot be started"):
        run.probe("no-such-probe")


def test_a_probe_that_does_not_end_is_a_refusal_of_its_own_kind(run: Assay) -> None:
    with pytest.raises(ProbeTimeout, match=r"did not end within 0\.5 s"):
        run.probe([PYTHON, "-c", "while True: pass"], timeout=0.5)


@pytest.fixture
def pinned(tmp_path: Path) -> Assay:
    source = tmp_path / "source"
    (source / "src" / "sub").mkdir(parents=True)
    files = {"src/a.js": "a\n", "src/b.js": "b\n", "src/sub/c.js": "c\n", "README.md": "read\n"}
    for name, text in files.items():
        (source / name).write_text(text)

    def git(*arguments: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        return subprocess.run(
            ["git", *identity, *arguments], cwd=source, check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "etalon")
    git("tag", "v1")
    commit = git("rev-parse", "HEAD")
    (source / "src" / "a.js").write_text("moved on\n")
    git("commit", "-qam", "later")
    git("tag", "-f", "v1")
    (source / "src" / "b.js").write_text("not committed\n")
    return Assay({"etalon": {"tag": "v1", "checkout": str(source), "commit": commit}, "files": sorted(files)})


def test_the_reference_is_read_at_the_recorded_commit_however_the_tag_and_the_checkout_moved(pinned: Assay) -> None:
    assert pinned.sources_at_etalon("src/*.js") == "a\n\nb\n"
    assert pinned.sources_at_etalon("src/**/*.js", exclude="src/b.js") == "a\n\nc\n"
    assert pinned.sources_at_etalon("src/**/*.js", exclude=["src/sub/*", "*/b.js"]) == "a\n"


def test_a_context_without_a_commit_reads_the_tag(pinned: Assay) -> None:
    etalon = pinned.etalon
    by_tag = Assay({"etalon": {"tag": etalon.tag, "checkout": str(etalon.checkout)}, "files": ["src/a.js"]})
    assert by_tag.sources_at_etalon("src/a.js") == "moved on\n"


@pytest.mark.parametrize(("pattern", "exclude"), [("game/*.js", None), ("src/*.js", "src/*")])
def test_an_empty_reference_is_refused_and_not_compared_with(pinned: Assay, pattern: str, exclude: str | None) -> None:
    with pytest.raises(CannotJudge, match="no file of the etalon matches"):
        pinned.sources_at_etalon(pattern, exclude)


def test_a_repository_that_is_gone_is_refused_with_a_sentence(tmp_path: Path) -> None:
    context = {"etalon": {"tag": "v1", "checkout": str(tmp_path / "gone"), "commit": "0" * 40}, "files": ["a"]}
    with pytest.raises(CannotJudge, match="the etalon cannot be read"):
        Assay(json.loads(json.dumps(context))).sources_at_etalon("a")
