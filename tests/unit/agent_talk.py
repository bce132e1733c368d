"""A program that talks as the agent does, started as the agent is."""

import sys
from pathlib import Path
from typing import Any

from trysquare import agent

TALK = """
import json, os, sys, time
def say(data, to=sys.stdout.buffer):
    to.write(data if isinstance(data, bytes) else json.dumps(data, separators=(",", ":")).encode() + b"\\n")
    to.flush()
def answer(text="x", reason="stop", **more):
    usage = {"input": 10, "output": 2, "cost": {"total": 0.5}}
    said = {"role": "assistant", "content": [{"type": "text", "text": text}], "stopReason": reason, "usage": usage}
    say({"type": "message_end", "message": {**said, "model": "m-1", **more}})
"""


def talk(tmp_path: Path, source: str, timeout: float = 60, **options: Any) -> agent.Outcome:
    return agent.run(tmp_path, [sys.executable, "-c", TALK + source], timeout, tmp_path / "trace.jsonl", **options)
