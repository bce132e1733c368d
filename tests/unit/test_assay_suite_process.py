import os
import signal
import subprocess
from pathlib import Path

import pytest
from suites import PYTHON, bare_pytest, suite, tree

from trysquare.assay import Assay, CannotJudge, Metric
from trysquare.assay.trees import copy_of

__all__ = ["bare_pytest"]


def program(directory: Path, name: str, text: str) -> Path:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_script_that_npm_does_not_find_is_unjudged_and_its_failing_suite_is_red(tmp_path: Path) -> None:
    missing = program(tmp_path, "npm", """echo 'npm error Missing script: "test"' >&2; exit 1""")
    metric = suite(tmp_path, {}, f"{missing} test")
    assert not metric.judged and "package.json" in metric.reason
    failing = program(tmp_path, "npm", "echo 'tests failed' >&2; exit 1")
    assert suite(tmp_path, {}, f"{failing} test").value is False


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("no-such-runner --all", "`no-such-runner --all` cannot be started (No such file or directory)"),
        ("./README", "cannot be started (Permission denied)"),
        ("env no-such-runner", "exited 127: a program that is not there"),
        (f"{PYTHON} -m no_such_runner", "names a module that is not installed"),
    ],
)
def test_a_runner_that_is_not_there_is_unjudged(tmp_path: Path, command: str, why: str) -> None:
    metric = suite(tmp_path, {"README": "text"}, command)
    assert not metric.judged and why in metric.reason


FORKING = """
import os, subprocess, sys, time
nap = [sys.executable, "-c", "import time; time.sleep(600)"]
children = [subprocess.Popen(nap, start_new_session=alone) for alone in (False, True)]
open({pids!r}, "w").write(" ".join(str(pid) for pid in (os.getpid(), *(child.pid for child in children))))
{then}
"""


def dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def test_a_suite_that_does_not_end_is_unjudged_and_nothing_of_it_survives(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = FORKING.format(pids=str(pids), then="print('still here', flush=True); time.sleep(600)")
    metric = suite(tmp_path, {"hang.py": script}, f"{PYTHON} hang.py", timeout=5)
    assert not metric.judged
    assert "did not end within 5 s" in metric.reason and "still here" in metric.reason
    assert [dead(int(pid)) for pid in pids.read_text().split()] == [True] * 3


def test_the_daemons_a_suite_leaves_behind_are_ended_with_it(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = FORKING.format(pids=str(pids), then="print('left')")
    assert suite(tmp_path, {"leave.py": script}, f"{PYTHON} leave.py").value is True
    assert [dead(int(pid)) for pid in pids.read_text().split()] == [True] * 3


def test_a_suite_that_ends_itself_by_a_signal_is_red_and_says_so(tmp_path: Path) -> None:
    script = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    metric = suite(tmp_path, {"crash.py": script}, f"{PYTHON} -X faulthandler=0 crash.py")
    assert metric.value is False and f"signal {signal.SIGSEGV.value}" in metric.reason


def test_a_flood_is_judged_by_its_exit_status_and_kept_short(tmp_path: Path) -> None:
    script = "import sys\nfor _ in range(3000): print('x' * 9999)\nprint('Ran 1 test in 0.1s\\n\\nOK')\n"
    metric = suite(tmp_path, {"flood.py": script}, f"{PYTHON} flood.py")
    assert metric == Metric(True, "Ran 1 test in 0.1s\n\nOK")


def test_the_suite_is_prepared_first_and_in_the_same_copy(tmp_path: Path) -> None:
    check = "import pathlib, sys; print('checked'); sys.exit(pathlib.Path('ready').read_text() != 'yes')"
    make = "import pathlib; pathlib.Path('ready').write_text('yes')"
    files = {"check.py": check, "make.py": make}
    assert suite(tmp_path, files, f"{PYTHON} check.py", prepare=[f"{PYTHON} make.py"]).value is True
    assert suite(tmp_path, files, f"{PYTHON} check.py").value is False


@pytest.mark.parametrize(
    ("step", "why"), [("false", "`false`, which prepares the suite, exited 1"), ("no-such-tool", "cannot be started")]
)
def test_a_preparation_that_fails_is_unjudged_and_the_suite_never_runs(tmp_path: Path, step: str, why: str) -> None:
    metric = suite(tmp_path, {}, f"touch {tmp_path}/ran", prepare=[step])
    assert not metric.judged and why in metric.reason
    assert not (tmp_path / "ran").exists()


def test_the_suite_changes_nothing_of_what_other_metrics_see(tmp_path: Path) -> None:
    spoil = "import pathlib; pathlib.Path('new').write_text('x'); pathlib.Path('spoil.py').write_text('gone'); print(1)"
    assert suite(tmp_path, {"spoil.py": spoil}, f"{PYTHON} spoil.py").value is True
    assert {path.name: path.read_text() for path in (tmp_path / "repo").iterdir()} == {"spoil.py": spoil}
    assert [path.name for path in tmp_path.iterdir()] == ["repo"]


def test_a_reason_does_not_depend_on_where_the_copy_was(tmp_path: Path) -> None:
    script = "import os; print('at', os.path.abspath('lost.py')); raise SystemExit(1)"
    metric = suite(tmp_path, {"lost.py": script}, f"{PYTHON} lost.py")
    assert metric.value is False and metric.reason.endswith("\nat lost.py")


def test_a_tree_that_is_gone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="the tree of this run is not there"):
        Assay({"repo": str(tmp_path / "gone"), "test_command": "true"}).tests()


def test_a_copy_has_its_links_its_modes_and_its_history(tmp_path: Path) -> None:
    root = tree(tmp_path, {"run.sh": "#!/bin/sh\nexit 0\n"})
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("run.sh")
    (root / "dangling").symlink_to("nowhere")
    for arguments in (
        ["init", "-q"],
        ["add", "-A"],
        ["-c", "user.name=t", "-c", "user.email=t@e", "commit", "-qm", "x"],
    ):
        subprocess.run(["git", *arguments], cwd=root, check=True)
    with copy_of(root) as copy:
        assert copy.name == "repo" and copy.parent.parent == tmp_path
        assert os.access(copy / "run.sh", os.X_OK)
        assert [(copy / name).readlink().name for name in ("link", "dangling")] == ["run.sh", "nowhere"]
        assert subprocess.run(["git", "status", "--porcelain"], cwd=copy, capture_output=True, check=True).stdout == b""
        subprocess.run(["git", "gc", "-q", "--prune=now"], cwd=copy, check=True)
    subprocess.run(["git", "fsck", "--strict"], cwd=root, check=True, capture_output=True)


def test_a_command_nobody_can_run_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(CannotJudge, match="the context declares a command nobody can run"):
        suite(tmp_path, {}, "pytest && true")
