"""Whatever a user's path turns out to be, the answer is one sentence and exit 1."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from scenarios import place, repository, small, write

from tests import matrices
from trysquare import cli, places
from trysquare.errors import TrysquareError, refused
from trysquare.files import replacing, write_text
from trysquare.validating import check

BELOW_PROC = "/proc/trysquare"
"""Where nobody can make anything, root included, although nothing looks forbidden."""


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    plan = matrices.matrix()
    return matrices.written(tmp_path / plan.name, plan, matrices.rows(plan))


@pytest.fixture
def in_the_way(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("here\n")
    return path


@pytest.mark.parametrize("target", ["{file}/below/it", BELOW_PROC, "{directory}", "{directory}/dangling/below"])
@pytest.mark.parametrize(
    "command",
    [
        ("compare", "{matrix}", "{matrix}", "--html", "{target}"),
        ("export", "{matrix}", "--format", "csv", "-o", "{target}"),
        ("export", "{matrix}", "--zip", "-o", "{target}"),
        ("power", "{matrix}", "--gap", "10", "--html", "{target}"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_in_one_sentence(
    matrix: Path, in_the_way: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...], target: str
) -> None:
    (matrix.parent / "dangling").symlink_to("nowhere")
    wanted = target.format(file=in_the_way, directory=matrix.parent)
    code = cli.main([word.format(matrix=matrix, target=wanted) for word in command])
    said = capsys.readouterr().err.splitlines()
    assert code == 1 and len(said) == 1 and ".new" not in said[0]
    assert said[0].startswith((wanted, str(in_the_way), str(matrix.parent / "dangling")))
    assert in_the_way.read_text() == "here\n"


@pytest.mark.parametrize(
    "command", ["status", "render", "form", "export --zip", "compare", "clean", "agreement", "watch"]
)
def test_a_file_instead_of_a_matrix_is_one_sentence(
    in_the_way: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    more = {"compare": [str(in_the_way)], "agreement": ["a", "b"]}
    name, *options = command.split()
    assert cli.main([name, f"{in_the_way}/matrix", *more.get(name, []), *options]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_place_that_can_be_used_is_left_as_it_was(tmp_path: Path) -> None:
    assert places.unusable(tmp_path / "a" / "b", tried=True) == ""
    assert places.unusable(tmp_path, tried=True) == ""
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_used_says_why(tmp_path: Path, in_the_way: Path) -> None:
    (tmp_path / "dangling").symlink_to("nowhere")
    assert places.unusable(in_the_way, tried=False) == f"{in_the_way} is no directory"
    assert places.unusable(in_the_way / "below", tried=False) == f"{in_the_way} is no directory"
    assert (
        places.unusable(tmp_path / "dangling" / "below", tried=True) == f"{tmp_path / 'dangling'} is a link to nothing"
    )
    assert "nothing can be made in /proc" in places.unusable(Path(BELOW_PROC) / "below", tried=True)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="no setpriv, which takes the rights of root away")
def test_a_directory_without_the_right_to_write_is_refused_without_trying(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    source = "import sys; from pathlib import Path; from trysquare import places\n"
    source += "print(places.unusable(Path(sys.argv[1]), tried=False))"
    bounded = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    argv = [*bounded, sys.executable, "-c", source, str(closed / "below")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == f"{closed} must not be written into\n"


@pytest.mark.parametrize("workdir", ["rule.toml", "rule.toml/below", BELOW_PROC])
def test_a_work_directory_that_cannot_be_used_is_refused_with_its_key(tmp_path: Path, workdir: str) -> None:
    here = place(tmp_path)
    repository(here / "repo")
    machine = here / "trysquare.toml"
    machine.write_text(f'[repos]\ncounter = "repo"\n[defaults]\nworkdir = "{workdir}"\n')
    with pytest.raises(TrysquareError) as found:
        check(write(here, small()), str(here / "results"))
    assert f"{machine}: [defaults] workdir: {here / workdir} cannot be used: " in str(found.value)
    assert not (here / "results").exists()


@pytest.mark.parametrize("output", ["rule.toml", BELOW_PROC])
def test_results_that_cannot_be_written_are_refused_with_what_to_give(tmp_path: Path, output: str) -> None:
    here = place(tmp_path)
    repository(here / "repo")
    with pytest.raises(TrysquareError, match=r"cannot be used: .*; name another directory for the results"):
        check(write(here, small()), str(here / output))


def test_what_the_system_refuses_is_said_of_the_file_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    with pytest.raises(OSError) as found, replacing(target) as neighbour:
        neighbour.write_text("half")
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(neighbour))
    assert refused(found.value).startswith(f"{target} cannot be written or read (no space left on device)")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(IsADirectoryError) as found_too:
        write_text(tmp_path, "text")
    assert refused(found_too.value).startswith(f"{tmp_path} cannot be used (is a directory): name another place")


def test_whoever_stops_reading_is_shown_no_traceback(matrix: Path) -> None:
    source = "from trysquare.cli import main; raise SystemExit(main())"
    argv = [sys.executable, "-c", source, "compare", str(matrix), str(matrix)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
    assert process.returncode == 1


def test_an_error_that_is_about_no_path_stays_a_defect() -> None:
    assert refused(OSError(errno.EINVAL, "Invalid argument")) == ""
    assert refused(ConnectionResetError(errno.ECONNRESET, "reset")) == ""


def test_the_engine_is_not_started_where_it_cannot_keep_its_notes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir("/proc")
    assert cli.main(["run", "/nowhere/scenario.toml", "-o", "results"]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "start it from a directory that can be written into" in line
