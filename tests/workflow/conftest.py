"""A small experiment of one's own, and the real engine to run it with."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from trysquare import agent
from trysquare.errors import AgentError

ROOT = Path(__file__).resolve().parents[2]

SCENARIO = """
[scenario]
title = "Counter"

[task]
repo = "counter"
etalon = "v1"
prompt = "The counter goes down. Fix it."
test_command = "{python} -m unittest discover -s tests -t ."
artefacts = ["__pycache__"]

[agent]
provider = "rehearsal"
model = "rehearsal-1"
thinking = "off"

[protocol]
repetitions = {repetitions}
concurrency = 2
timeout = 60
attempts = 1

[variants.plain]

[variants.rule]
context = "rule.md"

[[validation]]
mode = "script"
command = "validator.py"
metrics = ["delivered", "in_scope", "tests"]

[verdict]
criterion = "in_scope"
reference = "plain"
validity = ["delivered"]
"""

VALIDATOR = """
from trysquare.assay import Assay, validator


@validator
def evaluate(run: Assay) -> dict:
    work = run.touched - run.artefacts
    return {"delivered": bool(work), "in_scope": work <= {"counter.py"}, "tests": run.tests()}


if __name__ == "__main__":
    raise SystemExit(evaluate.cli())
"""

SCRIPT = """
seed = 7

[model]
id = "rehearsal-1-large"
spread = 0.1

[[play]]
name = "fix"

[[play.turn]]
text = "I will fix the counter."
[[play.turn.call]]
tool = "edit"
arguments = { path = "counter.py", edits = [{ oldText = "return n - 1", newText = "return n + 1" }] }

[[play.turn]]
text = "Fixed."
"""

FILES = {
    "counter.py": "def bump(n):\n    return n - 1\n",
    "tests/__init__.py": "",
    "tests/test_counter.py": "import unittest\n\nfrom counter import bump\n\n\n"
    "class Counts(unittest.TestCase):\n    def test_up(self):\n        self.assertEqual(bump(1), 2)\n",
}


@dataclass(frozen=True)
class Bench:
    """One experiment in a directory of its own; `repetitions` chooses among its matrices."""

    root: Path
    repetitions: int = 2

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def command(self, *arguments: str) -> list[str]:
        """The engine's command line; a word like `key=value` goes into its config."""
        settings = [word for word in arguments if "=" in word and not word.startswith("-")]
        words = [word for word in arguments if word not in settings]
        engine = [sys.executable, "-m", "snakemake", "-s", str(ROOT / "Snakefile"), "--cores", "2", *words]
        given = [] if any(word.startswith("scenario=") for word in settings) else ["scenario=scenario.toml"]
        return [*engine, "--config", *given, *settings]

    def snakemake(self, *arguments: str, code: int | None = 0) -> str:
        """Run the engine to its end; returns everything it printed."""
        return self.done(self.command(*arguments), code)

    def trysquare(self, *arguments: str, code: int | None = 0) -> str:
        """Run the console command to its end; returns everything it printed."""
        return self.done(
            [sys.executable, "-c", "from trysquare.cli import main; raise SystemExit(main())", *arguments], code
        )

    def done(self, command: list[str], code: int | None = 0) -> str:
        """Run a command to its end, where nobody can answer a question."""
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=300,
        )
        assert code is None or done.returncode == code, done.stdout
        assert "Traceback" not in done.stdout, done.stdout
        return done.stdout

    @property
    def environment(self) -> dict[str, str]:
        return {key: value for key, value in os.environ.items() if not key.startswith(("GIT_", "PYTEST", "COV"))}

    @property
    def matrix(self) -> Path:
        [found] = (self.root / "results" / "rehearsals").glob(f"scenario_*_n{self.repetitions}")
        return found

    @property
    def requests(self) -> int:
        """How many requests the scripted provider has answered so far."""
        path = self.matrix / "requests.jsonl"
        return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0

    @property
    def requests_by_run(self) -> Counter[str]:
        lines = (self.matrix / "requests.jsonl").read_text(encoding="utf-8").splitlines()
        return Counter(json.loads(line)["run"] for line in lines)

    @property
    def records(self) -> list[Path]:
        return sorted(self.matrix.glob("runs/*/*/run.json"))

    def evidence(self) -> dict[str, bytes]:
        """Every byte that was paid for."""
        names = ("run.json", "configuration.json", "diff.patch", "prompt.md", "response.md")
        paths = [record.parent / name for record in self.records for name in names]
        paths += [path for record in self.records for path in sorted((record.parent / "session").iterdir())]
        return {str(path.relative_to(self.matrix)): path.read_bytes() for path in paths}

    def state(self) -> dict[str, object]:
        loaded: dict[str, object] = json.loads((self.matrix / "state.json").read_text(encoding="utf-8"))
        return loaded


def git(directory: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Nobody", "-c", "user.email=nobody@example.invalid", "-c", "commit.gpgsign=false"]
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="session")
def counter_repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("counter")
    for name, text in FILES.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "A counter")
    git(root, "tag", "v1")
    return root


def made(place: Path, repository: Path) -> Bench:
    """Two cells and two repetitions, in a directory whose name holds a space."""
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    bench = Bench(place / "an experiment")
    bench.write("scenario.toml", SCENARIO.format(python=sys.executable, repetitions=2))
    bench.write("rule.md", "Change nothing but counter.py.\n")
    bench.write("validator.py", VALIDATOR)
    bench.write("rehearsal.toml", SCRIPT)
    machine = f'[repos]\ncounter = "{repository}"\n\n[defaults]\nworkdir = "{place}/work"\n'
    bench.write("trysquare.toml", machine)
    return bench


@pytest.fixture
def bench(tmp_path: Path, counter_repository: Path) -> Bench:
    """An experiment that nothing was measured of yet."""
    return made(tmp_path, counter_repository)


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory: pytest.TempPathFactory, counter_repository: Path) -> Bench:
    bench = made(tmp_path_factory.mktemp("finished"), counter_repository)
    bench.snakemake("run")
    return bench


@pytest.fixture
def finished(tmp_path: Path, counter_repository: Path, finished_once: Bench) -> Bench:
    """A complete matrix, measured once for all tests and copied for each."""
    made(tmp_path, counter_repository)
    for name in ("results", ".snakemake"):
        shutil.copytree(finished_once.root / name, tmp_path / "an experiment" / name)
    return Bench(tmp_path / "an experiment")


@contextmanager
def launched(
    bench: Bench, *arguments: str, nohup: bool = False, command: Sequence[str] = ()
) -> Iterator[subprocess.Popen[str]]:
    """The engine, or another command, in a group of its own, read line by line; killed with all below it at the end."""
    engine = subprocess.Popen(
        [*(["nohup"] if nohup else []), *(command or bench.command(*arguments))],
        cwd=bench.root,
        env=bench.environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield engine
    finally:
        for process in below(engine):
            process.kill()
        engine.kill()
        engine.stdout.close()
        engine.wait()


def until(engine: subprocess.Popen[str], text: str) -> None:
    """Read what the engine prints up to a line that holds `text`."""
    seen = []
    for line in engine.stdout:
        seen.append(line)
        if text in line:
            return
    raise AssertionError(f"the engine ended before it said {text!r}:\n{''.join(seen)}")


def below(engine: subprocess.Popen[str]) -> list[psutil.Process]:
    """Every process the engine has started, directly or not."""
    try:
        return psutil.Process(engine.pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
