"""Streams of events of the agent: captured ones, and events to make others of."""

from pathlib import Path
from typing import Any

CAPTURES = Path(__file__).parent.parent / "fixtures" / "pi"


def captured(name: str, kind: str) -> Path:
    return CAPTURES / name / f"{kind}.jsonl"


def usage_of(**known: float) -> dict[str, Any]:
    names = ("input", "output", "cacheRead", "cacheWrite", "turns", "retries", "cost")
    return {**dict.fromkeys(names, 0), **known}


def ended(*content: Any, reason: str = "stop", usage: Any = None, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(content), "stopReason": reason, "usage": usage, **more}
    return {"type": "message_end", "message": message}


def said(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}
