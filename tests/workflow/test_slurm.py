"""The same experiment on a cluster: a real Slurm of one node, and a submit command that is only a shell."""

import os
import shutil

import pytest

from tests.workflow import slurm
from tests.workflow.conftest import ROOT, launched, until

pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(bool(slurm.missing()), reason=slurm.missing()),
]

PROFILE = ("--profile", str(ROOT / "profiles" / "slurm"))
HERE = ("--latency-wait", "2", "--slurm-init-seconds-before-status-checks", "8", "--seconds-between-status-checks", "1")


@pytest.fixture(scope="module")
def cluster():
    made = slurm.made()
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(made.root)


@pytest.fixture
def bench(bench, cluster, monkeypatch):
    """The small experiment, with the commands of the cluster first on the PATH."""
    pytest.importorskip("snakemake_executor_plugin_slurm", reason="the extra `slurm` is not installed")
    monkeypatch.setenv("PATH", f"{cluster.bin}:{os.environ['PATH']}")
    bench.edit("rehearsal.toml", 'text = "Fixed."', 'text = "Fixed."\npause = 700')
    return bench


def test_a_matrix_is_measured_on_the_cluster(bench, cluster):
    output = bench.snakemake("run", *PROFILE, *HERE)
    print(output)
    assert bench.state()["complete"] is True
    assert cluster.queue == []
