"""Every sentence this package refuses with, read from its own source: what the guide's list of refusals is made of."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent

BLANK = "…"
"""What stands in a sentence for a part that is filled in when it is said."""

NOTES = ("add", "refuse")
"""Methods that take a place and a sentence, and collect refusals."""

TOPICS: Mapping[str, tuple[str, ...]] = {
    "The scenario file": ("scenario",),
    "The command line, the config and the machine file": ("config", "runner/settings.py", "cli"),
    "Before a launch": ("runner", "validating.py", "rounds.py"),
    "The repository and its trees": ("repo",),
    "The agent": ("agent", "shipped.py"),
    "While a launch runs": (
        "launch.py",
        "targets.py",
        "invocation.py",
        "launching.py",
        "holding.py",
        "remote.py",
        "measuring.py",
        "judging.py",
        "scoring.py",
        "carrying.py",
        "discarding.py",
        "history.py",
        "spending.py",
        "capacity.py",
        "interrupt",
        "jobs",
        "errors.py",
    ),
    "The archive": (
        "archive.py",
        "collecting.py",
        "exporting.py",
        "files.py",
        "layout.py",
        "matrix.py",
        "outputs",
        "readers",
        "rendering.py",
        "replaying.py",
        "stored.py",
        "watching",
        "workplace.py",
    ),
    "Validators": ("assay", "validation", "custom_metrics", "asserting.py"),
    "Verdicts, comparisons and plans of repetitions": (
        "agreement.py",
        "comparing",
        "measure",
        "parity",
        "power",
        "synthesis",
        "table",
        "verdict",
    ),
    "Forms": ("forms",),
    "Rehearsals": ("rehearsal",),
    "Evaluations of other tools": ("vally",),
}
"""Where a module's sentences stand in the guide; of two places that fit, the one that names more of its path."""

ELSEWHERE = "Anything else"
"""Where the sentences of a module stand that has no topic yet."""

WORDS = re.compile(rf"\w \w|\w{{4}}.*{BLANK}")
"""What a text must hold to be a sentence, or the part of one that is said here."""

DEPTH = 5
"""How many names and calls are followed from the place that refuses to the place that words it."""

FOLLOWED = (ast.Return, ast.Yield)


@dataclass(frozen=True)
class Source:
    """The parsed modules of the package, by path relative to it."""

    modules: Mapping[str, ast.Module]

    @classmethod
    def read(cls, package: Path = PACKAGE) -> "Source":
        """Parse every module."""
        paths = sorted(package.rglob("*.py"))
        return cls(
            {path.relative_to(package).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in paths}
        )

    @cached_property
    def errors(self) -> frozenset[str]:
        """The names of TrysquareError and of every class below it."""
        known: set[str] = {"TrysquareError"}
        classes = [node for each in self.modules.values() for node in ast.walk(each) if isinstance(node, ast.ClassDef)]
        while more := {each.name for each in classes if known & set(map(_name, each.bases))} - known:
            known |= more
        return frozenset(known)

    @cached_property
    def functions(self) -> Mapping[str, list[ast.AST]]:
        """The functions of the package by name."""
        found: dict[str, list[ast.AST]] = {}
        for module in self.modules.values():
            for node in ast.walk(module):
                if isinstance(node, ast.FunctionDef):
                    found.setdefault(node.name, []).append(node)
        return found

    def sentences(self) -> dict[str, list[str]]:
        """The sentences of each module that refuses, in its order, each once."""
        found = {name: list(dict.fromkeys(self._of(module))) for name, module in self.modules.items()}
        return {name: sentences for name, sentences in found.items() if sentences}

    def by_topic(self) -> dict[str, list[str]]:
        """The sentences under the topics of the guide, in its order, each once; last those of no topic."""
        found: dict[str, dict[str, None]] = {topic: {} for topic in (*TOPICS, ELSEWHERE)}
        for module, sentences in self.sentences().items():
            found[_topic(module)].update(dict.fromkeys(map(one_line, sentences)))
        return {topic: sorted(sentences, key=_alphabetical) for topic, sentences in found.items() if sentences}

    def literals(self) -> frozenset[str]:
        """Every text in the package, with blanks for what is filled in."""
        nodes = (node for module in self.modules.values() for node in ast.walk(module))
        return frozenset(one_line(text) for node in nodes if (text := _text(node)) is not None)

    def _of(self, module: ast.Module) -> Iterator[str]:
        for scope in [*_functions(module), module]:
            for call in _own(scope):
                if isinstance(call, ast.Call) and (said := self._said(call)) is not None:
                    yield from self._texts(said, (scope, module))

    def _said(self, call: ast.Call) -> ast.expr | None:
        if _name(call.func) in (*self.errors, "exit") and call.args:
            return call.args[0]
        noting = isinstance(call.func, ast.Attribute) and call.func.attr in NOTES
        return call.args[1] if noting and len(call.args) == 2 else None

    def _texts(self, node: ast.AST, scopes: tuple[ast.AST, ...], depth: int = DEPTH) -> Iterator[str]:
        """The texts an expression may be, those it is given by other names and functions included."""
        if (text := _text(node)) is not None:
            if WORDS.search(text):
                yield text
        elif depth:
            for part, scope in self._parts(node, scopes):
                yield from self._texts(part, scope, depth - 1)

    def _parts(self, node: ast.AST, scopes: tuple[ast.AST, ...]) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
        if isinstance(node, ast.Name | ast.Attribute):
            named = _name(node)
            everywhere = tuple(self.modules.values()) if isinstance(node, ast.Attribute) else ()
            yield from ((value, scopes) for scope in (*scopes, *everywhere) for value in _assigned(scope, named))
        elif isinstance(node, ast.Call) and _name(node.func) in ("join", "together"):
            yield from ((each, scopes) for each in node.args)
        elif isinstance(node, ast.Call):
            for function in self.functions.get(_name(node.func), ()):
                given = [each.value for each in _own(function) if isinstance(each, FOLLOWED) and each.value]
                yield from ((each, (function,)) for each in given)
        elif isinstance(node, ast.IfExp | ast.ListComp | ast.GeneratorExp | ast.List | ast.Tuple | ast.BoolOp):
            yield from ((each, scopes) for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))


def one_line(text: str) -> str:
    """A text without line breaks, and with one blank where several follow each other."""
    return re.sub(f"{BLANK}+", BLANK, " ".join(text.split()))


def _topic(module: str) -> str:
    fitting = [
        (len(place), topic)
        for topic, places in TOPICS.items()
        for place in places
        if f"{module}/".startswith(f"{place}/")
    ]
    return max(fitting)[1] if fitting else ELSEWHERE


def _alphabetical(sentence: str) -> str:
    return sentence.strip(f"{BLANK} :'[`").casefold()


def _functions(module: ast.Module) -> list[ast.AST]:
    return [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a module or function, those of functions inside it left out, as they are written."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own(child)


def _name(node: ast.AST) -> str:
    return str(getattr(node, "id", None) or getattr(node, "attr", ""))


def _assigned(scope: ast.AST, name: str) -> Iterator[ast.AST]:
    """What a name is set to in a scope, and what is added to it when it is a list."""
    for node in _own(scope):
        if isinstance(node, ast.For):
            yield from [node.iter] if _name(node.target) == name else ()
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.NamedExpr):
            yield from [node.value] if node.value and name in map(_name, _targets(node)) else ()
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            yield from node.args if _name(node.func.value) == name else ()


def _targets(node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> Iterator[ast.AST]:
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        yield from target.elts if isinstance(target, ast.Tuple) else (target,)


def _text(node: ast.AST) -> str | None:
    """A literal text with blanks for what is filled in; None for an expression that is no literal."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else BLANK for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return (
            None if left is right is None else f"{BLANK if left is None else left}{BLANK if right is None else right}"
        )
    return None
