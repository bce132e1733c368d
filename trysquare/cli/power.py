"""The command that plans repetitions: power."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trysquare.errors import TrysquareError

if TYPE_CHECKING:
    from trysquare.power import Population, Question
    from trysquare.table.measures import ByCell


def register(commands: Any) -> None:
    """Add the command of this module."""
    planning = commands.add_parser(
        "power", help="how many repetitions establish a gap, and which gap the present number establishes"
    )
    planning.add_argument("source", type=Path, metavar="DIR|SCENARIO", help="a matrix directory, or a scenario file")
    planning.add_argument("--gap", type=float, metavar="X", help="the gap to plan for; of a rate, in points")
    planning.add_argument("--power", type=float, default=0.8, metavar="P", help="the chance aimed at (default: 0.8)")
    planning.add_argument("--measure", metavar="NAME", help="in, out, turns, duration or a metric (default: criterion)")
    planning.add_argument("--rate", type=float, metavar="R", help="plan with this share of true runs, from 0 to 1")
    planning.add_argument("--median", type=float, metavar="M", help="plan with this median; needs --spread")
    planning.add_argument("--spread", type=float, metavar="S", help="the standard deviation of a run around it")
    planning.add_argument("--html", type=Path, metavar="FILE", help="write a page with the curve as well")
    planning.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("results"),
        help="where the matrices of a scenario are (default: results)",
    )
    planning.set_defaults(command=power, misused=planning.error)


def power(options: argparse.Namespace) -> int:
    """Say what to plan for, and write the page when one is asked for."""
    from trysquare import power as planning

    population = _stated(options)
    question, by_cell, place = _source(options, wanted=population is None)
    if population is None:
        basis = planning.measured(question, options.measure, by_cell)
    else:
        basis = planning.stated(question, options.measure, population)
    advice = planning.advise(question, basis, options.gap, options.power)
    print(f"{question.title}  ({place})")
    if basis.rehearsed:
        print("REHEARSAL: a script played the model; nothing can be planned with this")
    print("\n".join(planning.sentences(advice)))
    if options.html is not None:
        _write(options.html, planning.page(advice))
    return 0


def _stated(options: argparse.Namespace) -> "Population | None":
    """The population given on the command line, if any."""
    from trysquare.power import stated_median, stated_rate

    pair = (options.median, options.spread)
    if (options.rate is not None and pair != (None, None)) or (None in pair and pair != (None, None)):
        options.misused("give --rate alone, or --median together with --spread")
    if options.rate is not None:
        return stated_rate(options.rate)
    return None if options.median is None else stated_median(options.median, options.spread)


def _source(options: argparse.Namespace, wanted: bool) -> "tuple[Question, ByCell, Path]":
    """What is planned, its archived runs when they are wanted, and where these are from."""
    from trysquare.layout import Layout
    from trysquare.matrix import Matrix
    from trysquare.power import Question
    from trysquare.rendering import measures
    from trysquare.table import group

    if not options.source.is_dir():
        return _scenario(options, wanted)
    layout = Layout(options.source)
    question = Question.of(Matrix.load(layout.plan))
    runs = measures(layout) if wanted else []
    return question, group(runs, question.cells), options.source


def _scenario(options: argparse.Namespace, wanted: bool) -> "tuple[Question, ByCell, Path]":
    from trysquare import scenario
    from trysquare.layout import Layout
    from trysquare.outputs import largest
    from trysquare.power import Question
    from trysquare.rendering import measures
    from trysquare.runner.building import verdict
    from trysquare.runner.plan import matrices_root
    from trysquare.table import group

    found = scenario.load(options.source)
    declared = tuple(metric for validator in found.validators for metric in validator.metrics)
    question = Question(found.title, verdict(found), declared, found.protocol.repetitions, found.cell_names)
    if not wanted:
        return question, {}, options.source
    root = matrices_root(options.output, found)
    matrix = largest(root, found)
    if matrix is None:
        raise TrysquareError(
            f"{root} holds no measured matrix of {options.source}: measure a few repetitions first, or state what to "
            "expect with --rate, or with --median and --spread."
        )
    return question, group(measures(Layout(matrix)), found.cell_names), matrix


def _write(file: Path, text: str) -> None:
    from trysquare.files import write_text

    write_text(file, text)
    print(f"page: {file}")
