"""What agents do to a repository, and that the archive gives it back byte for byte: real agent, real git."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.workflow.conftest import Bench
from trysquare import repo
from trysquare.files import read_json
from trysquare.frozen import decode
from trysquare.layout import Layout
from trysquare.matrix import Matrix

pytestmark = pytest.mark.workflow

COMMANDS = {
    "commits": "echo 'def bump(n): return n + 1' > counter.py && git -c user.name=a -c user.email=a@b commit -qam x",
    "deletes a test": "rm tests/test_counter.py && printf 'x = 1\\n' >> counter.py",
    "writes binaries": "head -c 3000 /dev/urandom > data.bin && printf '\\000\\001\\377' > counter.py",
    "adds ignored files": "echo '*.log' > .gitignore && echo noise > run.log && mkdir logs && echo more > logs/a.log",
    "renames": "git mv counter.py total.py && chmod +x total.py && ln -s total.py counter.py",
    "leaves caches": "python3 -m compileall -q . && echo 'def bump(n): return n + 1' >counter.py",
    "removes the repository": "rm -rf .git && printf 'def bump(n): return n + 2\\n' > counter.py",
    "does nothing": "true",
}

TOUCHED = {
    "commits": ["counter.py"],
    "deletes a test": ["counter.py", "tests/test_counter.py"],
    "writes binaries": ["counter.py", "data.bin"],
    "adds ignored files": [".gitignore"],
    "renames": ["counter.py", "total.py"],
    "removes the repository": ["counter.py"],
    "does nothing": [],
}


def play(name: str, command: str, left: Path) -> str:
    keep = f"cp -a . {json.dumps(str(left / name))} && rm -rf {json.dumps(str(left / name / '.git'))}"
    calls = [json.dumps(text) for text in (command, keep)]
    turns = "".join(
        f'[[play.turn]]\ncall = [{{ tool = "bash", arguments = {{ command = {call} }} }}]\n' for call in calls
    )
    return f'[[play]]\nname = "{name}"\ncells = ["{name}"]\n{turns}[[play.turn]]\ntext = "Done."\n'


def content(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file and link of a tree, git's own and what is ignored aside."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        for name in names:
            path = Path(folder) / name
            if path.suffix != ".log":
                kind = "link" if path.is_symlink() else "executable" if os.access(path, os.X_OK) else "file"
                data = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
                found[path.relative_to(root).as_posix()] = (kind, data)
    return found


@pytest.fixture
def measured(bench: Bench, tmp_path: Path) -> tuple[Bench, Path]:
    left = tmp_path / "left"
    left.mkdir()
    bench.edit("scenario.toml", "repetitions = 2", "repetitions = 1")
    bench.edit("scenario.toml", '[variants.rule]\ncontext = "rule.md"\n', "\n")
    bench.edit("scenario.toml", "[variants.plain]\n", "".join(f'[variants."{name}"]\n' for name in COMMANDS))
    bench.edit("scenario.toml", 'reference = "plain"', 'reference = "commits"')
    bench.edit("scenario.toml", 'validity = ["delivered"]\n', "")
    bench.write("rehearsal.toml", "".join(play(name, command, left) for name, command in COMMANDS.items()))
    bench.snakemake("run")
    return replace(bench, repetitions=1), left


def test_the_archive_gives_back_the_very_tree_each_agent_left(measured, tmp_path):
    bench, left = measured
    layout = Layout(bench.matrix)
    matrix = Matrix.load(layout.plan)
    for planned in matrix.runs.values():
        run = layout.run(planned.directory)
        configuration = read_json(run.configuration)
        work = tmp_path / "again" / planned.id
        work.mkdir(parents=True)
        tree = repo.rebuild(
            Path(matrix.source.checkout),
            Path(matrix.workdir),
            layout.bricks,
            decode(repo.Base, configuration["base"]),
            run.patch,
            configuration["tree"],
            configuration["base_tree"],
            work,
            what=planned.cell,
        )
        assert content(tree) == content(left / planned.cell), planned.cell
        if planned.cell in TOUCHED:
            assert configuration["touched"] == TOUCHED[planned.cell], planned.cell
        assert bool(run.patch.read_bytes()) == bool(configuration["touched"])


def test_what_is_not_in_the_patch_is_listed(measured):
    bench, _ = measured
    configurations = [read_json(record.parent / "configuration.json") for record in bench.records]
    by_cell = {configuration["cell"]: configuration for configuration in configurations}
    assert by_cell["adds ignored files"]["ignored"] == ["logs/a.log", "run.log"]
    assert by_cell["adds ignored files"]["hidden"] == ["logs/a.log", "run.log"]
    assert any("__pycache__" in name for name in by_cell["leaves caches"]["touched"])
    rows = {row["cell"]: row["metrics"] for row in json.loads((bench.matrix / "measures.json").read_text())}
    assert rows["leaves caches"] == {"delivered": True, "in_scope": True, "tests": True}
    assert rows["does nothing"]["delivered"] is False
    assert "tests" not in rows["deletes a test"], "a suite without tests is not judged"
