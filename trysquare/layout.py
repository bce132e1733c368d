"""Where everything of a matrix is. The only author of its paths."""

import re
from dataclasses import dataclass
from pathlib import Path


def plain(pointer: str) -> str:
    """The name of a pointer, or its digest, without the mark of a launch (see `trysquare.pointers`)."""
    return re.sub(r"-[0-9a-f]{8}$", "", pointer)


@dataclass(frozen=True)
class RunLayout:
    """One run's directory.

    ::

        runs/<cell>/<id>/
          measured.json        the engine's pointer: digest of run.json, written in the same rename
          run.json             the record; its presence means "measured"
          configuration.json   prompt.md   response.md   diff.patch
          session/*.jsonl      one per attempt, byte for byte
          collected/**         files the scenario asked to keep
          validation/<name>.json, <name>.stderr, <name>/context.json, .<name>.<digest>
          validation/<judge>/judgements/<round>/   verdict.json, prompt.md, session/*.jsonl: paid for, kept
          validation/<judge>/attempts.jsonl, attempts/*.jsonl   launches that gave no verdict
    """

    root: Path

    @property
    def id(self) -> str:
        """The run id, which is the directory's own name in either layout."""
        return self.root.name

    @property
    def pointer(self) -> Path:
        """measured.json."""
        return self.root / "measured.json"

    @property
    def record(self) -> Path:
        """run.json."""
        return self.root / "run.json"

    @property
    def configuration(self) -> Path:
        """configuration.json."""
        return self.root / "configuration.json"

    @property
    def prompt(self) -> Path:
        """prompt.md."""
        return self.root / "prompt.md"

    @property
    def response(self) -> Path:
        """response.md."""
        return self.root / "response.md"

    @property
    def patch(self) -> Path:
        """diff.patch."""
        return self.root / "diff.patch"

    @property
    def session(self) -> Path:
        """The directory of session files."""
        return self.root / "session"

    @property
    def collected(self) -> Path:
        """The directory of collected files."""
        return self.root / "collected"

    @property
    def validation(self) -> Path:
        """The directory of verdicts."""
        return self.root / "validation"

    def verdict(self, validator: str) -> Path:
        """What a validator returned, as stored."""
        return self.validation / f"{validator}.json"

    def previous(self, validator: str) -> Path:
        """The verdict before, kept until a new one lands."""
        return self.validation / f"{validator}.previous.json"

    def stderr(self, validator: str) -> Path:
        """What a validator wrote to its standard error."""
        return self.validation / f"{validator}.stderr"

    def context(self, validator: str) -> Path:
        """The context file a validator was handed."""
        return self.validation / validator / "context.json"

    def judgement(self, validator: str, round_: int) -> Path:
        """The directory of one judgement; rounds are counted from 0, and `rejudge` begins a new one."""
        return self.validation / validator / "judgements" / str(round_)

    def judge_attempts(self, validator: str) -> Path:
        """One line per launch of a judge that gave no verdict; their sessions are beside it, in attempts/."""
        return self.validation / validator / "attempts.jsonl"

    def score_pointer(self, validator: str, digest: str) -> Path:
        """The engine's pointer to a verdict, named after what must score again when it changes."""
        return self.validation / f".{validator}.{digest}"


@dataclass(frozen=True)
class Layout:
    """A matrix directory.

    ::

        <results>/<scenario>_<etalon>_<provider>_<model>_n<N>/
          plan.json  bricks/<digest>  launches.jsonl
          runs/<cell>/<id>/ (see RunLayout), runs/<id>/ when blind
          attempts/<id>.jsonl  attempts/<id>/*.jsonl
          discarded/<id>.<k>/
          requests.jsonl       rehearsals only: one line per request the scripted provider answered
          forms/<form>.toml    what people are asked; their answers lie with the runs
          logs/  ledger/  .incoming/  .locks/
          .live/<id>.json      runs under way: their last sign of life; refusals.<launch>.jsonl  what a provider refused
          state.json  measures.json  measures.parquet  synthesis.md  synthesis.html  synthesis_ref-<cell>.*
          pages/<cell>/<id>.html  pages/<cell>/<id>/*.html   a page for each run, and for its sessions once exported
    """

    root: Path

    @property
    def plan(self) -> Path:
        """plan.json."""
        return self.root / "plan.json"

    @property
    def bricks(self) -> Path:
        """The directory of frozen bytes."""
        return self.root / "bricks"

    def brick(self, digest: str) -> Path:
        """The frozen bytes of one digest."""
        return self.bricks / digest

    @property
    def launches(self) -> Path:
        """launches.jsonl."""
        return self.root / "launches.jsonl"

    def run(self, directory: str) -> RunLayout:
        """One run, by its directory relative to runs/."""
        return RunLayout(self.root / "runs" / directory)

    def attempts(self, run_id: str) -> Path:
        """One line per attempt of a run that produced nothing."""
        return self.root / "attempts" / f"{run_id}.jsonl"

    def attempt_sessions(self, run_id: str) -> Path:
        """The sessions of attempts that produced nothing."""
        return self.root / "attempts" / run_id

    @property
    def discarded(self) -> Path:
        """Runs set aside by an explicit act."""
        return self.root / "discarded"

    def form(self, validator: str) -> Path:
        """forms/<validator>.toml, where a form waits for its answers."""
        return self.root / "forms" / f"{validator}.toml"

    @property
    def requests(self) -> Path:
        """requests.jsonl, the counter of the scripted provider."""
        return self.root / "requests.jsonl"

    @property
    def logs(self) -> Path:
        """The directory of job logs."""
        return self.root / "logs"

    @property
    def ledger(self) -> Path:
        """The directory of the engine's pointers to derived files."""
        return self.root / "ledger"

    @property
    def incoming(self) -> Path:
        """Where a run is staged before its one rename."""
        return self.root / ".incoming"

    @property
    def live(self) -> Path:
        """What jobs leave behind while they run, for each other and for whoever watches; can be deleted at any time."""
        return self.root / ".live"

    def heartbeat(self, run_id: str) -> Path:
        """The last sign of life of one run."""
        return self.live / f"{run_id}.json"

    def refusals(self, launch: str) -> Path:
        """Whether the provider served the runs of one launch, from the first one it refused."""
        return self.live / f"refusals.{launch}.jsonl"

    def lock(self, run_id: str) -> Path:
        """The lock of one run."""
        return self.root / ".locks" / run_id

    @property
    def state(self) -> Path:
        """state.json."""
        return self.root / "state.json"

    @property
    def measures(self) -> Path:
        """measures.json."""
        return self.root / "measures.json"

    @property
    def parquet(self) -> Path:
        """measures.parquet."""
        return self.root / "measures.parquet"

    @property
    def pages(self) -> Path:
        """The directory of the pages of runs."""
        return self.root / "pages"

    def run_page(self, run: RunLayout) -> Path:
        """The page of one run."""
        return self.session_pages(run).with_name(f"{run.id}.html")

    def session_pages(self, run: RunLayout) -> Path:
        """The directory of the pages of one run's sessions."""
        return self.pages / run.root.relative_to(self.root / "runs")

    @property
    def synthesis(self) -> Path:
        """synthesis.md; the page is beside it, as .html."""
        return self.root / "synthesis.md"

    @property
    def tables(self) -> tuple[Path, ...]:
        """The files a collection writes: measures.json, measures.parquet, state.json."""
        return self.measures, self.parquet, self.state

    def pages_against(self, cell: str = "") -> tuple[Path, ...]:
        """The synthesis in both forms, against the declared reference or the one whose directory is given."""
        written = self.synthesis_against(cell) if cell else self.synthesis
        return written, written.with_suffix(".html")

    def synthesis_against(self, cell: str) -> Path:
        """synthesis_ref-<cell>.md, `cell` being the directory of another reference; the page is beside it, as .html."""
        return self.root / f"synthesis_ref-{cell}.md"
