"""The experiment of the workflow tests, and somebody who remembers what was committed and what it cost."""

from collections import Counter
from dataclasses import dataclass, field

from tests.workflow.conftest import Bench, bench, counter_repository, finished, finished_once

__all__ = ["Ledger", "bench", "counter_repository", "finished", "finished_once"]


@dataclass
class Ledger:
    """Every run that was ever seen committed, byte for byte, and how many requests it had taken by then."""

    bench: Bench
    bytes: dict[str, bytes] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)

    def check(self) -> None:
        """Nothing committed has changed, was lost, or was asked for again; nothing is half there."""
        found, asked = self.bench.evidence(), self.bench.requests_by_run
        assert self.bytes.items() <= found.items()
        for run, count in self.requests.items():
            assert asked[run] == count, f"run {run} was measured again"
        runs = self.bench.matrix / "runs"
        half = [path for path in runs.glob("*/*") if any(path.iterdir()) and not (path / "run.json").exists()]
        assert half == []
        self.bytes = found
        self.requests = Counter({path.parent.name: asked[path.parent.name] for path in self.bench.records})

    def complete(self) -> None:
        """The next launch completes the matrix without any help."""
        self.bench.snakemake("run")
        assert self.bench.state()["complete"] is True
        self.check()
