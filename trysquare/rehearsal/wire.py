"""One turn in the chunks of an OpenAI-compatible streaming answer."""

import json
from collections.abc import Iterator
from typing import Any

from trysquare.rehearsal.language import Turn


def answered(body: Any) -> int:
    """How many times the model has answered in the conversation of a request.

    Raises
    ------
    ValueError
        When the body is no chat request.
    """
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list):
        raise ValueError("the request has no `messages`")
    return sum(1 for message in messages if isinstance(message, dict) and message.get("role") == "assistant")


def chunks(turn: Turn, number: int, model: str) -> Iterator[dict[str, Any]]:
    """The chunks of one whole turn; `number` makes the ids of its calls unique in the conversation."""
    yield chunk(model, {"role": "assistant", "content": turn.text})
    for index, call in enumerate(turn.calls):
        function = {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
        part = {"index": index, "id": f"call_{number}_{index}", "type": "function", "function": function}
        yield chunk(model, {"tool_calls": [part]})
    yield chunk(model, {}, "tool_calls" if turn.calls else "stop")
    prompt, output = turn.usage.input + turn.usage.cached, turn.usage.output
    usage = {"prompt_tokens": prompt, "completion_tokens": output, "total_tokens": prompt + output}
    yield _frame(model, [], {**usage, "prompt_tokens_details": {"cached_tokens": turn.usage.cached}})


def chunk(model: str, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One chunk of an answer."""
    return _frame(model, [{"index": 0, "delta": delta, "finish_reason": finish}], None)


def _frame(model: str, choices: list[Any], usage: Any) -> dict[str, Any]:
    head = {"id": "rehearsal", "object": "chat.completion.chunk", "created": 0, "model": model}
    return {**head, "choices": choices, "usage": usage}
