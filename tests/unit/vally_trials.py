"""Trial results as Vally writes them."""

import json
from pathlib import Path
from typing import Any


def trial(**fields: Any) -> dict[str, Any]:
    trajectory = {
        "metrics": {
            "tokenUsage": {"inputTokens": 1000, "outputTokens": 50, "cacheReadTokens": 10},
            "wallTimeMs": 2500,
        },
        "output": "a long answer",
        **(fields.pop("trajectory", None) or {}),
    }
    made = {
        "type": "trial-result",
        "itemId": "i1",
        "evalName": "shop",
        "variant": "base",
        "stimulus": "fix",
        "model": "m-1",
        "trialIndex": 0,
        "totalTrials": 1,
        "status": "completed",
        "durationMs": 2500,
        "gradeResult": {"passed": True, "score": 1.0},
        "trajectory": trajectory,
    }
    return {**made, **fields}


def write_lines(path: Path, *lines: Any) -> Path:
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return path
