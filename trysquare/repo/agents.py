"""Agent definitions: which model one runs, and where that is said."""

import re
from collections.abc import Mapping
from pathlib import Path

from trysquare.errors import RepoError

_HEAD = rb"(?sm)\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)"

Settled = dict[str, str | None]
"""Of one agent: `model` (None when it would be inherited) and `source`, the place that says so."""


def with_model(data: bytes, model: str | None) -> bytes:
    """An agent definition with a model written into its frontmatter; unchanged when it says so already."""
    declared = _field(data, "model")
    if model is None or (declared is not None and _value(declared) == model):
        return data
    line = b"model: " + model.encode()
    if declared:
        return data[: declared.start()] + line + data[declared.end() :]
    head = re.match(_HEAD, data)
    if head:
        return data[: head.start(1)] + line + b"\n" + data[head.start(1) :]
    return b"---\n" + line + b"\n---\n" + data


def settle(data: bytes, name: str, override: str | None = None) -> tuple[str, Settled]:
    """The name of an agent and which model it runs; `name` is what it is called without a name of its own."""
    called, declared = _field(data, "name"), _field(data, "model")
    model = override or (_value(declared) if declared else None) or None
    source = None if model is None else "brick" if override else "frontmatter"
    return (_value(called) if called else "") or name, {"model": model, "source": source}


def agent_frontmatter(path: Path, override: str | None = None) -> dict[str, str | None]:
    """What an agent definition says of itself: `name`, `description`, and the `model` that will run it.

    `source` is `brick` when `override` settles the model, `frontmatter` when the definition does, and None when nothing
    does.
    """
    data = Path(path).read_bytes()
    name, settled = settle(data, Path(path).stem, override)
    described = _field(data, "description")
    return {"name": name, "description": _value(described) if described else None, **settled}


def check_agent_models(agents: Mapping[str, Mapping[str, str | None]]) -> None:
    """Refuse agents without a model: they would run on whatever the machine prefers.

    Raises
    ------
    RepoError
        With the name of each.
    """
    open_ones = sorted(name for name, settled in agents.items() if not settled.get("model"))
    if open_ones:
        raise RepoError(
            f"{', '.join(open_ones)}: an injected agent never inherits its model; write `model: ...` into its "
            'frontmatter, or model = "..." into the brick.'
        )


def _field(data: bytes, key: str) -> re.Match[bytes] | None:
    head = re.match(_HEAD, data)
    pattern = re.compile(rb"^" + key.encode() + rb"[ \t]*:[ \t]*(.*?)[ \t]*(?=\r?$)", re.MULTILINE)
    return pattern.search(data, head.start(1), head.end(1)) if head else None


def _value(field: re.Match[bytes]) -> str:
    return field[1].decode("utf-8", "replace").split(" #", 1)[0].strip().strip("'\"")
