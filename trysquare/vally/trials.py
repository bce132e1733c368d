"""Trial results, one line at a time: what is needed of each is kept, however long its output is."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError
from trysquare.files import digest

LINE_LIMIT = 64 * 2**20
"""Bytes one line may have."""

LONGEST = 500
"""Characters of a grade's evidence that are kept."""

KIND = "trial-result"
DONE = (None, "completed", "complete", "success", "succeeded", "passed", "failed", "done", "graded", "ok")
"""States of a trial that ran to its end; in any other nothing was measured."""


class TrialsError(TrysquareError):
    """A file of trial results that cannot be read."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial; None where its line does not say. `text` is the digest of its stimulus' text, `grade` its result."""

    line: int
    item: str | None
    evaluation: str | None
    variant: str | None
    stimulus: str | None
    text: str | None
    model: str | None
    index: int | None
    status: str | None
    seconds: float | None
    grade: Mapping[str, Any] | None
    tokens: tuple[float | None, float | None, float | None]
    artifact_dir: str | None
    work_dir: str | None

    @property
    def ran(self) -> bool:
        """Whether it ran to its end."""
        return self.status in DONE


def read_trials(path: Path) -> Iterator[Trial]:
    """The trials of a file of JSON lines; lines of another type are passed over.

    Raises
    ------
    TrialsError
        When the file or one of its lines cannot be read.
    """
    try:
        with path.open("rb") as handle:
            number = 0
            while line := handle.readline(LINE_LIMIT + 1):
                number += 1
                if len(line) > LINE_LIMIT:
                    raise TrialsError(f"{path}, line {number}: has more than {LINE_LIMIT // 2**20} MB; shorten it.")
                if line.strip() and (found := _decoded(path, number, line)).get("type") == KIND:
                    yield _trial(number, found)
    except OSError as error:
        raise TrialsError(f"{path}: cannot be read ({error.strerror}); name a file of trial results.") from None


def _decoded(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        torn = "" if line.endswith(b"\n") else "; the line has no end, so the file was cut off"
        raise TrialsError(f"{path}, line {number}: is no JSON ({error}){torn}: correct or remove it.") from None
    if not isinstance(found, Mapping):
        raise TrialsError(f"{path}, line {number}: holds no object: correct or remove it.")
    return found


def _trial(number: int, found: Mapping[str, Any]) -> Trial:
    trajectory = _mapping(found.get("trajectory"))
    metrics = _mapping(trajectory.get("metrics"))
    usage = _mapping(metrics.get("tokenUsage"))
    stimulus, text = _stimulus(found.get("stimulus"))
    elapsed = _number(found.get("durationMs")), _number(metrics.get("wallTimeMs"))
    milliseconds = next((value for value in elapsed if value is not None), None)
    return Trial(
        line=number,
        item=_text(found.get("itemId")),
        evaluation=_text(found.get("evalName")),
        variant=_text(found.get("variant")),
        stimulus=stimulus,
        text=text,
        model=_text(found.get("model")),
        index=found["trialIndex"] if type(found.get("trialIndex")) is int else None,
        status=_text(found.get("status")),
        seconds=None if milliseconds is None else milliseconds / 1000,
        grade=_grade(found.get("gradeResult")),
        tokens=tuple(_number(usage.get(name)) for name in ("inputTokens", "outputTokens", "cacheReadTokens")),  # type: ignore[arg-type]
        artifact_dir=_text(trajectory.get("artifactDir")),
        work_dir=_text(trajectory.get("workDir")),
    )


def _stimulus(value: Any) -> tuple[str | None, str | None]:
    """The name of a stimulus, and the digest of its text where the line holds that."""
    if not isinstance(value, Mapping):
        return _text(value), None
    text = next((value[key] for key in ("prompt", "text", "input") if key in value), None)
    return _text(value.get("name", value.get("id"))), None if text is None else digest(text)


def _grade(value: Any) -> Mapping[str, Any] | None:
    """What of a grade becomes metrics and reasons."""
    if not isinstance(value, Mapping):
        return None
    lists = (value.get(key) for key in ("graders", "results", "grades"))
    named: list[Any] = next((found for found in lists if isinstance(found, list)), [])
    each = [item for item in named if isinstance(item, Mapping) and isinstance(item.get("passed"), bool)]
    graders = {
        sys.intern(str(item.get("name", item.get("type", number)))): item["passed"]
        for number, item in enumerate(each, 1)
    }
    return {
        "passed": value.get("passed") if isinstance(value.get("passed"), bool) else None,
        "score": _number(value.get("score")),
        "graders": graders,
        "evidence": evidence[:LONGEST] if isinstance(evidence := value.get("evidence"), str) else "",
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str | None:
    # Names repeat from line to line: one copy of each is held.
    return sys.intern(value) if isinstance(value, str) and value else None


def _number(value: Any) -> float | None:
    fits = isinstance(value, int | float) and not isinstance(value, bool) and -math.inf < value < math.inf
    return value if fits else None
