"""Private places of jobs, what is left of them, and what removing it would free."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from trysquare.layout import Layout
from trysquare.workplace import IN_USE, free, leftovers, private, size, sweep

HOLD = """
import sys
from pathlib import Path
from trysquare.workplace import private
with private(Path(sys.argv[1]), "job-") as place:
    print(place, flush=True)
    sys.stdin.read()
"""


def test_a_private_place_is_gone_with_its_block(tmp_path: Path) -> None:
    with private(tmp_path, "job-") as place:
        (place / "file").write_text("x")
        [found] = leftovers(tmp_path)
        assert (found.path, found.kept) == (place, "in use")
        assert free([found]) == 0 and place.exists()
    assert leftovers(tmp_path) == []


def test_the_place_of_a_job_that_was_killed_is_left_over(tmp_path: Path) -> None:
    job = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    place = Path(job.stdout.readline().strip())
    (tmp_path / "stores" / "abc").mkdir(parents=True)
    assert {each.kept for each in leftovers(tmp_path)} == {"in use"}
    job.kill()
    job.communicate()
    assert {(each.path, each.kept) for each in leftovers(tmp_path)} == {(place, ""), (tmp_path / "stores/abc", "")}
    free(leftovers(tmp_path))
    assert leftovers(tmp_path) == []


def test_a_launch_sweeps_what_killed_jobs_of_its_host_left_and_nothing_else(tmp_path: Path) -> None:
    sweep(tmp_path)
    for name, host in (("killed", socket.gethostname()), ("barely begun", ""), ("of another", "another")):
        (tmp_path / "trees" / name / "home").mkdir(parents=True)
        (tmp_path / "trees" / name / IN_USE).write_text(host)
    (tmp_path / "trees" / "bare").mkdir()
    with private(tmp_path, "job-") as place:
        sweep(tmp_path)
        assert {each.name for each in (tmp_path / "trees").iterdir()} == {".gate", "of another", place.name}
        assert "of another: only" in next(each.kept for each in leftovers(tmp_path) if each.path != place)


def test_a_run_that_is_staged_whole_is_never_freed(tmp_path: Path) -> None:
    layout = Layout(tmp_path / "x_n1")
    for name in ("aaaaaaaa-half", "judge-aaaaaaaa-judge-paid"):
        (layout.incoming / name).mkdir(parents=True)
    (layout.incoming / "judge-aaaaaaaa-judge-paid" / "verdict.json").write_text("{}")
    kept = {each.path.name: each.kept for each in leftovers(tmp_path / "work", [layout])}
    assert kept == {"aaaaaaaa-half": "", "judge-aaaaaaaa-judge-paid": "paid for: the next launch commits it"}


@pytest.mark.parametrize("elsewhere", [True, False])
def test_a_file_with_links_elsewhere_frees_nothing(tmp_path: Path, elsewhere: bool) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "pack").write_bytes(bytes(200_000))
    os.link(tmp_path / "pack", tmp_path / "here" / "one")
    os.link(tmp_path / "pack", tmp_path / "here" / "two")
    if not elsewhere:
        (tmp_path / "pack").unlink()
    assert (size(tmp_path / "here") >= 200_000) is not elsewhere
