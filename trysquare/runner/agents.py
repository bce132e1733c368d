"""Agent definitions: the model one declares, and writing another into it."""

import re

from trysquare.scenario import ScenarioError

FRONTMATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
MODEL = re.compile(rb"^model[ \t]*:[ \t]*(.*?)[ \t]*\r?$", re.MULTILINE)


def with_model(data: bytes, model: str | None, what: str) -> bytes:
    """An agent file with the model of its brick written into its frontmatter, or as it is without one.

    Raises
    ------
    ScenarioError
        When no model comes from either place: the agent would run on whatever the machine prefers.
    """
    head = FRONTMATTER.match(data)
    declared = MODEL.search(data, head.start(1), head.end(1)) if head else None
    if model is None:
        if declared is None or not declared[1].strip(b"'\" "):
            raise ScenarioError(
                f"{what}: declares no model, and an injected agent never inherits one; write `model: ...` into its "
                'frontmatter, or model = "..." into the brick.'
            )
        return data
    line = b"model: " + model.encode()
    if declared:
        return data[: declared.start()] + line + data[declared.end() :]
    if head:
        return data[: head.start(1)] + line + b"\n" + data[head.start(1) :]
    return b"---\n" + line + b"\n---\n" + data
