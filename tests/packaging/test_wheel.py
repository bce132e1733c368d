"""What somebody gets who installs trysquare from a package index, in a clean environment."""

import os
import re
import shlex
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from trysquare import agent, shipped
from trysquare.agent.installation import PINNED
from trysquare.errors import AgentError

ROOT = Path(__file__).resolve().parents[2]
PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "PIP_CONFIG_FILE",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_CACHE_DIR",
    "TMPDIR",
)


def advice() -> list[str]:
    """The commands the guide gives to somebody without a checkout."""
    text = (ROOT / "docs" / "getting-started.md").read_text(encoding="utf-8")
    [block] = re.findall(r"Without a checkout.*?```\n(.*?)```", text, re.DOTALL)
    return block.splitlines()


def below(*places: str) -> set[str]:
    """The files of a checkout under some places, without what is made there."""
    found = {path for place in places for path in [ROOT / place, *(ROOT / place).rglob("*")] if path.is_file()}
    made = {ROOT / "examples" / "demo" / "repository"}
    return {
        path.relative_to(ROOT).as_posix()
        for path in found
        if "__pycache__" not in path.parts and not made & set(path.parents) and not path.name.startswith(".")
    }


def sh(script: str, cwd: Path) -> str:
    """Run a script in a shell that knows nothing of the environment of this test; returns what it printed."""
    env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    env["PATH"] = os.pathsep.join(
        each for each in env["PATH"].split(os.pathsep) if each != str(Path(sys.prefix) / "bin")
    )
    done = subprocess.run(
        ["bash", "-euc", script],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=-1,
        stderr=-2,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0 and "Traceback" not in done.stdout, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source distribution, and the wheel that was built from it."""
    place = tmp_path_factory.mktemp("dist")
    probe = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(place / "probe"), "hatchling"]
    if subprocess.run(probe, capture_output=True).returncode:
        pytest.skip("no package index answers")
    sh(f"{shlex.quote(sys.executable)} -m build -o {shlex.quote(str(place))} {shlex.quote(str(ROOT))}", place)
    return place


def test_the_wheel_holds_every_file_the_installed_command_reads(dist):
    [wheel] = dist.glob("trysquare-0.1.0-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    moved = {
        f"trysquare/_workflow/{name}"
        for name in below("Snakefile", "workflow", "config", "profiles", "envs", "examples")
    }
    code = below("trysquare", "snakemake_logger_plugin_trysquare")
    assert len(moved) > 30 and len(code) > 200
    assert (moved | code) - names == set()
    assert not [name for name in names if "/repository/" in name or "__pycache__" in name]


def test_the_source_distribution_holds_what_its_own_tests_and_guide_need(dist):
    [source] = dist.glob("trysquare-0.1.0.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "CHANGELOG.md", "CITATION.cff", "Makefile", "docs/index.md", "tests/test_example.py"} <= names
    assert not [name for name in names if name.startswith(("results/", ".venv/", "examples/demo/repository"))]


def test_the_guide_names_the_agent_that_is_pinned():
    [line] = [line for line in advice() if line.startswith("npm install")]
    assert shlex.split(line)[-1] == shipped.pinned_agent()


def test_what_the_guide_tells_somebody_without_a_checkout_ends_with_the_synthesis_of_the_demo(dist, tmp_path):
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    [wheel] = dist.glob("*.whl")
    script = []
    for line in advice():
        line = line.replace("'trysquare[agent]'", shlex.quote(f"{wheel}[agent]"))
        if line.startswith("npm install"):
            # The agent of this environment, which was installed from the same pin.
            line = (
                f'mkdir -p "$VIRTUAL_ENV/share/trysquare" && ln -s {shlex.quote(str(Path(sys.prefix) / PINNED))} "$_"'
            )
        script.append(line + (" --repetitions 1" if line.startswith("trysquare run") else ""))
    said = sh("\n".join(script), tmp_path)
    [matrix] = (tmp_path / "results" / "rehearsals").iterdir()
    assert f"{matrix.relative_to(tmp_path)}: complete, 4 of 4 runs valid" in said
    assert "rule / high" in (matrix / "synthesis.html").read_text(encoding="utf-8")
    where = sh(". .venv/bin/activate && python -c 'import trysquare; print(trysquare.__file__)'", tmp_path)
    assert where.startswith(str(tmp_path / ".venv"))
