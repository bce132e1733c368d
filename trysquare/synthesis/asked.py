"""What was asked: the cells, and the parts of the task in which they differ."""

from collections.abc import Callable, Iterable
from typing import Any

from trysquare.matrix import CellPlan, Matrix, Tree
from trysquare.synthesis.model import Link

UNDECLARED = Link("no longer declared")


def aspects(matrix: Matrix) -> tuple[str, ...]:
    """The parts that are not the same in every declared cell, in the order a reader meets them."""
    cells = list(matrix.cells.values())
    return tuple(name for name, part in PARTS.items() if any(part(cell) != part(cells[0]) for cell in cells))


def pieces(matrix: Matrix, cell: str) -> tuple[Link, ...]:
    """What a cell has in each of the differing parts; where two different things look the same, their digests tell."""
    names = aspects(matrix)
    if cell not in matrix.cells:
        return (UNDECLARED,) * len(names)
    return tuple(_piece(matrix, PARTS[name], matrix.cells[cell]) for name in names)


def prompt(matrix: Matrix) -> Link | None:
    """The prompt, when every cell was given the same."""
    prompts = {cell.prompt for cell in matrix.cells.values()}
    return Link("prompt", f"bricks/{prompts.pop()}") if len(prompts) == 1 else None


def _piece(matrix: Matrix, part: Callable[[CellPlan], Any], cell: CellPlan) -> Link:
    value = part(cell)
    link = _shown(value)
    twins = {str(part(other)) for other in matrix.cells.values() if _shown(part(other)).label == link.label}
    return link if len(twins) == 1 else Link(f"{link.label} ({_mark(value)})", link.href)


def _shown(value: Any) -> Link:
    if isinstance(value, _Text):
        return Link("a text", f"bricks/{value}")
    if isinstance(value, dict):
        return Link(_files(value))
    return Link(str(value))


def _mark(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(sorted(digest[:6] for digest in value.values()))
    return str(value)[:6]


def _files(names: Iterable[str]) -> str:
    listed = sorted(names)
    return ", ".join(listed) if 0 < len(listed) <= 3 else f"{len(listed)} files" if listed else "none"


class _Text(str):
    """The digest of a text in `bricks/`."""


def _text(digest: str | None) -> str:
    return "none" if digest is None else _Text(digest)


def _context(cell: CellPlan) -> str:
    return "the repository's own" if cell.keep_context else _text(cell.context)


def _tree(tree: Tree) -> dict[str, str]:
    return {path: blob.digest for path, blob in tree.items()}


PARTS: dict[str, Callable[[CellPlan], Any]] = {
    "prompt": lambda cell: _text(cell.prompt),
    "context": _context,
    "system prompt": lambda cell: _text(cell.system),
    "thinking": lambda cell: cell.thinking,
    "files": lambda cell: _tree(cell.files),
    "skills": lambda cell: _tree(cell.skills),
    "agents": lambda cell: _tree(cell.agents),
    "model of its agents": lambda cell: cell.agent_model or "their own",
    "extensions": lambda cell: ", ".join(f"{e.brick} {e.tag or ''}".strip() for e in cell.extensions) or "none",
    "setup": lambda cell: _text(cell.setup.digest if cell.setup else None),
    "history": lambda cell: "whole" if cell.history else "one commit",
}
