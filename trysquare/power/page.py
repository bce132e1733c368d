"""A plan as one HTML page, in the style of a synthesis."""

from trysquare import plots
from trysquare.power.advice import Advice, gap_text, method, percent, smallest_sentence
from trysquare.power.simulation import LIMIT, Curve, power_curve
from trysquare.verdict import MINIMUM

POINTS = 14
"""About how many numbers of repetitions a curve is drawn through."""


def page(advice: Advice) -> str:
    """The plan as one HTML page: no script, nothing fetched, light and dark, the curve inlined."""
    from markupsafe import Markup

    from trysquare.synthesis.forms import environment

    found = smallest_sentence(advice.question, advice.basis, advice.smallest)
    lines = [
        (gap_text(advice.basis, plan.gap), str(plan.repetitions or f"more than {LIMIT}"), percent(now))
        for plan, now in zip(advice.needed, advice.now, strict=True)
        if plan.gap is not None
    ]
    return (
        environment(html=True)
        .get_template("power.html.j2")
        .render(
            advice=advice,
            found=found,
            lines=lines,
            target=percent(advice.smallest.target),
            picture=Markup(picture(advice)),
            method=method(advice),
        )
    )


def picture(advice: Advice) -> str:
    """The curve of each gap of the plan as one SVG element."""
    drawn = [plots.Line(gap_text(advice.basis, curve.gap), curve.repetitions, curve.power) for curve in curves(advice)]
    target, here = advice.smallest.target, advice.question.repetitions
    return plots.chances(advice.basis.measure, drawn, target, here, "repetitions of each cell")


def curves(advice: Advice) -> tuple[Curve, ...]:
    """The chance of each gap of the plan by number of repetitions, over the numbers that matter to it."""
    needed, here = [each.repetitions or LIMIT for each in advice.needed], advice.question.repetitions
    last = min(LIMIT, max(20, *(round(1.3 * size) for size in (*needed, here))))
    sizes = {round(MINIMUM * (last / MINIMUM) ** (i / (POINTS - 1))) for i in range(POINTS)}
    sizes |= {size for size in (*needed, here) if MINIMUM <= size <= last}
    population, seed = advice.basis.population, advice.question.verdict.seed
    gaps = [each.gap for each in advice.needed if each.gap is not None]
    return tuple(power_curve(population, gap, sorted(sizes), seed=seed) for gap in gaps)
