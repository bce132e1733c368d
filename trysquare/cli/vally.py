"""Commands over files of Vally: grade, import."""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from trysquare.errors import TrysquareError

RESULTS = ".jsonl"


def register(commands: Any) -> None:
    """Add the commands of this module."""
    grading = commands.add_parser("grade", help="grade custom-metrics assertions of a Vally evaluation, offline")
    grading.add_argument(
        "files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="the evaluation (YAML), and trial results (.jsonl); without results this directory is graded, without an "
        "evaluation the eval.yaml beside the results is taken",
    )
    grading.add_argument("--require-pass", action="store_true", help="exit 1 unless everything passed")
    grading.add_argument("--lint", action="store_true", help="check the evaluation alone, grade nothing")
    grading.set_defaults(command=grade)
    importing = commands.add_parser("import", help="take results of another tool as measures")
    importing.add_argument("tool", choices=["vally"], help="the tool that wrote them")
    importing.add_argument("results", type=Path, help="a file of trial results (.jsonl)")
    importing.add_argument("-o", "--output", type=Path, required=True, help="directory the matrices are written under")
    importing.add_argument(
        "--differs",
        action="append",
        default=[],
        choices=["model", "stimulus"],
        help="what the variants are meant to differ in; any other difference is refused",
    )
    importing.set_defaults(command=take)


def grade(options: argparse.Namespace) -> int:
    """Print one JSON line for each grade; 1 when something was to pass and did not."""
    from trysquare.vally.evaluation import load
    from trysquare.vally.grading import grade_directory, grade_trials

    path, results = _named(options.files)
    evaluation = load(path)
    if options.lint:
        blocks = evaluation.every
        print(f"{path}: {len(blocks)} graders, {sum(len(block.assertions) for block in blocks)} assertions, all sound")
        return 0
    lines = grade_directory(evaluation, Path()) if results is None else grade_trials(evaluation, results)
    graded, passed = _print(lines)
    if not graded:
        raise TrysquareError(
            f"{results}: no trial of a stimulus that {path} grades; name the evaluation it belongs to."
        )
    if options.require_pass and passed < graded:
        print(f"{graded - passed} of {graded} grades did not pass", file=sys.stderr)
        return 1
    return 0


def _print(lines: Iterator[dict[str, Any]]) -> tuple[int, int]:
    graded = passed = 0
    for line in lines:
        print(json.dumps(line, ensure_ascii=True, allow_nan=False))
        graded += 1
        passed += line["passed"]
    return graded, passed


def _named(files: list[Path]) -> tuple[Path, Path | None]:
    """The evaluation and the results among the files given."""
    results = [path for path in files if path.suffix == RESULTS]
    evaluations = [path for path in files if path.suffix != RESULTS]
    if len(results) > 1 or len(evaluations) > 1:
        raise TrysquareError("grade takes one evaluation and one file of results; grade each pair by itself.")
    if not evaluations:
        evaluations = [results[0].with_name("eval.yaml")]
    return evaluations[0], results[0] if results else None


def take(options: argparse.Namespace) -> int:
    """Write matrices of measures, and say how each is rendered."""
    from trysquare.vally.importing import import_trials

    made = import_trials(options.results, options.output, options.differs)
    print("\n".join(line for each in made for line in each.lines))
    print(f"render one with: trysquare render {made[0].directory} --reference VARIANT")
    return 0
