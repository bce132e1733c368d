"""Scoring one archived run with assertions over the metrics file it wrote."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from trysquare import custom_metrics
from trysquare.custom_metrics import Grade, Root
from trysquare.layout import RunLayout
from trysquare.matrix import ValidatorPlan
from trysquare.validation import Result

ARTIFACTS, WORKSPACE = "artifact dir", "workspace"
"""What evidence calls the collected files of the archive, and the tree made again from it."""


def assess(
    run: RunLayout, validator: ValidatorPlan, configuration: Mapping[str, Any], rebuild: Callable[[], Path]
) -> Result:
    """Grade the metrics file of a run; the tree is made again only for a file that the archive did not collect.

    Parameters
    ----------
    configuration
        The configuration.json of the run.
    rebuild
        Makes the tree again and returns it.
    """
    settings = validator.settings
    graded = _grade(run, settings, configuration, rebuild)
    payload = custom_metrics.verdict(graded, settings.get("prefix", ""), validator.metrics)
    return Result(validator.mode, payload)


def _grade(
    run: RunLayout, settings: Mapping[str, Any], configuration: Mapping[str, Any], rebuild: Callable[[], Path]
) -> Grade:
    path, assertions = settings["path"], settings["assertions"]
    name = custom_metrics.normal(path)
    if name in configuration["collected"]["dropped"]:
        return custom_metrics.broken(assertions, f"failed to parse {path} as JSON: it is too large to be archived")
    touched, ignored = configuration["touched"], configuration["ignored"]
    written = name in touched or any(name == made or (made[-1:] == "/" and name.startswith(made)) for made in ignored)
    collected = Root(run.collected, ARTIFACTS)
    if (run.collected / name).exists():
        if not written:
            return custom_metrics.broken(
                assertions, f"{path} is unchanged since the base commit: the run did not write it (from {ARTIFACTS})"
            )
        return custom_metrics.grade(path, assertions, [collected])
    by_link = any(name.startswith(f"{above}/") for above in touched)
    roots = [collected, Root(rebuild(), WORKSPACE)] if written or by_link else [collected]
    return custom_metrics.grade(path, assertions, roots)
