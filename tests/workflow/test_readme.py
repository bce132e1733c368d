import re
import shutil
import textwrap

import pytest

from tests.workflow.conftest import ROOT, Bench, git
from trysquare import agent
from trysquare.errors import AgentError


@pytest.fixture
def experiment(tmp_path):
    """The files of the README's own experiment, as they stand there."""
    try:
        agent.command()
    except AgentError as error:
        pytest.skip(f"the agent is not installed: {error}")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    machine, scenario = map(textwrap.dedent, re.findall(r"^   ```toml\n(.*?)^   ```$", text, re.MULTILINE | re.DOTALL))
    bench = Bench(tmp_path / "bench")
    bench.write(
        "config/trysquare.toml",
        machine.replace("~/src/mine", str(tmp_path / "mine")) + f'[defaults]\nworkdir = "{tmp_path}/work"\n',
    )
    bench.write("experiments/rule.toml", scenario)
    bench.write("experiments/rule.md", "Change nothing but counter.py.\n")
    shutil.copy(ROOT / "examples" / "validator.py", bench.root / "experiments")
    shutil.copytree(ROOT / "tests" / "fixtures" / "tiny" / "etalon", tmp_path / "mine")
    for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "One"), ("tag", "v1.4.0")):
        git(tmp_path / "mine", *arguments)
    return bench


def test_the_experiment_of_the_readme_rehearses_from_its_three_files_to_a_synthesis(experiment):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert ".venv/bin/trysquare rehearse experiments/rule.toml " in text
    said = experiment.trysquare("rehearse", "experiments/rule.toml", "--repetitions", "1")
    [matrix] = (experiment.root / "results" / "rehearsals").iterdir()
    assert matrix.name == "rule_v1.4.0_anthropic_claude-sonnet_n1"
    assert "complete, 2 of 2 runs valid" in said
    assert "Does a scope rule keep the agent in scope?" in (matrix / "synthesis.html").read_text(encoding="utf-8")
