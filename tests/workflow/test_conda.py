"""Jobs in environments of conda. There is no channel to install from here, so a conda of few lines makes an
environment of one program, as the engine asks for it; the engine, its jobs and the agent are real.
"""

import shutil

import pytest

pytestmark = pytest.mark.workflow

CONDA = """#!/bin/bash
place=$(cd "$(dirname "$0")/.." && pwd)
case "$1 $2" in
"info --json") echo '{"conda_prefix": "'$place'", "platform": "linux-64", "conda_version": "25.1.0"}' ;;
"config --get") echo '{"get": {"channel_priority": "strict"}}' ;;
"--version ") echo "conda 25.1.0" ;;
"env create")
  while [ $# -gt 0 ]; do
    [ "$1" = --file ] && cp "$2" "$place/asked.yaml"
    [ "$1" = --prefix ] && made=$2
    shift
  done
  mkdir -p "$made/bin" "$made/conda-meta" && cp "$place/git" "$made/bin/git"
  ;;
esac
"""
ACTIVATE = 'export PATH="$1/bin:$PATH"\n'
GIT = '#!/bin/bash\necho "$1" >> "{log}"\nexec {git} "$@"\n'


def test_each_job_runs_in_the_environment_that_conda_makes(bench, tmp_path, monkeypatch):
    place, log = tmp_path / "conda", tmp_path / "asked-of-git"
    (place / "bin").mkdir(parents=True)
    for name, text in {
        "bin/conda": CONDA,
        "bin/activate": ACTIVATE,
        "git": GIT.format(log=log, git=shutil.which("git")),
    }.items():
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{place / 'bin'}:{bench.environment['PATH']}")

    output = bench.snakemake("run", "--sdm", "conda")

    assert "complete, 4 of 4 runs valid" in output
    assert "nodejs" in (place / "asked.yaml").read_text()
    assert {"--git-dir", "apply"} & {word.partition("=")[0] for word in log.read_text().split()}
