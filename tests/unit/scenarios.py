"""A valid experiment that uses every section, as tables that tests change before they are written."""

import copy
import os
import subprocess
from pathlib import Path
from typing import Any

from trysquare.refusals import key, toml

SCENARIO: dict[str, Any] = {
    "scenario": {"title": "Does the rule help?", "hypothesis": "hypothesis.md"},
    "task": {
        "repo": "counter",
        "etalon": "v1",
        "prompt": "prompts/fix.md",
        "test_command": "python3 -m unittest",
        "prepare": ["true"],
        "artefacts": ["__pycache__", "build/"],
        "collect": ["report.json"],
        "setup": "setup.sh",
    },
    "agent": {"provider": "acme", "model": "large", "thinking": "off"},
    "protocol": {"repetitions": 2, "concurrency": 3, "timeout": 60, "attempts": 2, "max_cost": 5.0},
    "axes": {
        "context": ["nothing", "rule"],
        "thinking": ["off", "high"],
        "exclude": [{"context": "rule", "thinking": "off"}],
        "include": [["terse"], {"name": "bare", "prompt": "Fix it.", "use": ["terse"], "description": "short"}],
    },
    "values": {"context": {"rule": {"context": "context/rule.md", "description": "the rule"}}},
    "presets": {"high": {"thinking": "high"}, "terse": {"system": "Be terse.", "harness": ["skills"]}},
    "variants": {"probed": {"harness": ["probe", "crew", "hook", "skills"], "history": False}},
    "harness": {
        "skills": {"paths": ["skills/review"]},
        "crew": {"paths": ["agents"], "kind": "agents", "model": "small"},
        "hook": {"load": "hook.ts"},
        "probe": {"kind": "files", "files": {"tests/test_probe.py": "probe.py"}},
    },
    "validation": [
        {
            "mode": "script",
            "command": "validator.py",
            "metrics": ["delivered", "tests"],
            "timeout": 30,
            "inputs": ["data/*.json"],
        },
        {
            "mode": "judge",
            "rubric": "rubric.md",
            "provider": "acme",
            "model": "wise",
            "thinking": "low",
            "metrics": ["readable"],
        },
        {
            "mode": "custom-metrics",
            "path": "out/metrics.json",
            "metrics": ["passed", "value.speed"],
            "assertions": [{"metric": "speed", "min": 3}],
        },
    ],
    "verdict": {
        "criterion": "delivered",
        "reference": {"context": "nothing", "thinking": "off"},
        "validity": ["tests"],
    },
}

FILES = {
    "hypothesis.md": "The rule helps.\n",
    "prompts/fix.md": "Fix the counter.\n",
    "context/rule.md": "Touch counter.py only.\n",
    "skills/review/SKILL.md": "---\nname: review\ndescription: reviews\n---\nLook twice.\n",
    "agents/coder.md": "---\nname: coder\ndescription: codes\nmodel: large\n---\nCode.\n",
    "hook.ts": "export default function () {}\n",
    "probe.py": "import unittest\n",
    "validator.py": "print('{}')\n",
    "data/expected.json": "{}\n",
    "rubric.md": "Is it readable?\n",
}


def scenario(**changes: Any) -> dict[str, Any]:
    """A copy of the valid tables, whole sections replaced (or removed, with None)."""
    raw = copy.deepcopy(SCENARIO)
    for name, section in changes.items():
        if section is None:
            del raw[name]
        else:
            raw[name] = section
    return raw


def small(**changes: Any) -> dict[str, Any]:
    """The smallest experiment: two variants, one validator."""
    raw = {
        "task": {"repo": "counter", "etalon": "v1", "prompt": "Fix the counter."},
        "agent": {"provider": "acme", "model": "large", "thinking": "off"},
        "protocol": {"repetitions": 2},
        "variants": {"plain": {}, "deep": {"thinking": "high"}},
        "validation": [{"mode": "script", "command": "validator.py", "metrics": ["delivered"]}],
        "verdict": {"criterion": "delivered", "reference": "plain"},
    }
    return {name: section for name, section in {**raw, **changes}.items() if section is not None}


def dumps(raw: Any) -> str:
    """Tables as TOML, each top-level key on a line of its own."""
    text = "".join(f"{key(name)} = {toml(value)}\n" for name, value in raw.items())
    return text.replace("-Infinity", "-inf").replace("Infinity", "inf").replace("NaN", "nan")


def place(directory: Path) -> Path:
    """The files the experiment points at, and a machine file, but no scenario."""
    for name, text in FILES.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (directory / "setup.sh").write_text("#!/bin/sh\n")
    (directory / "setup.sh").chmod(0o755)
    (directory / "trysquare.toml").write_text('[repos]\ncounter = "repo"\n[defaults]\nworkdir = "work"\n')
    return directory


def write(directory: Path, raw: Any, name: str = "rule.toml") -> Path:
    """A scenario file in a directory that `place` filled."""
    path = directory / name
    path.write_text(raw if isinstance(raw, str) else dumps(raw))
    return path


def git(directory: Path, *args: str) -> str:
    """Run git with an identity of its own and none of the operator's configuration."""
    who = {"GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@t", "GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@t"}
    env = {**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(["git", *args], cwd=directory, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(directory: Path) -> Path:
    """A git repository with one commit, tagged v1."""
    directory.mkdir(parents=True)
    git(directory, "init", "--quiet", "--initial-branch=main")
    (directory / "counter.py").write_text("value = 0\n")
    (directory / "src").mkdir()
    (directory / "src" / "deep.py").write_text("")
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "--message=start")
    git(directory, "tag", "v1")
    return directory
