"""The layers one after the other, as far as what is given allows."""

from pathlib import Path

from trysquare.files import read_json
from trysquare.parity.aggregation import compare, layer3, markdown, weak
from trysquare.parity.published import ParityError, published_by_id
from trysquare.parity.report import Report
from trysquare.parity.scoring import by_scenario, layer2
from trysquare.parity.stripping import layer1


def passes(
    measures: Path, archive: Path | None = None, scenario: Path | None = None, table: Path | None = None
) -> dict[str, Report]:
    """A report for each layer, in the order 3, 1, 2.

    Parameters
    ----------
    archive
        The directory of the archived runs, which layers 1 and 2 need.
    scenario
        What layer 2 scores with; its reference and criterion are those of layer 3.
    table
        The gap table that was published, as JSON `{cell: {measure: text}}`, for layer 3 to agree with.

    Raises
    ------
    TrysquareError
        When a file is not what it is given for.
    """
    found = {"layer 3, aggregation and verdict": _third(measures, scenario, table)}
    if archive is None:
        needed = "they need --archive DIR, the archived runs of these rows"
        found["layers 1 and 2"] = Report([needed], checked=False)
        return found
    found["layer 1, the numbers of the sessions"] = layer1(measures, archive)
    if scenario is None:
        needed = "it needs --scenario FILE, whose validators score the archived runs again"
        found["layer 2, scoring"] = Report([needed], checked=False)
        return found
    with by_scenario(scenario, published_by_id(measures)) as (reconstitute, validate):
        found["layer 2, scoring"] = layer2(measures, archive, reconstitute, validate)
    return found


def _third(measures: Path, scenario: Path | None, table: Path | None) -> Report:
    asked = {} if scenario is None else _asked(scenario)
    rows = layer3(measures, **asked)
    report = Report([*markdown(rows).splitlines(), "", *weak(rows)], checked=table is not None)
    if table is None:
        report.observed.append("there is no published table to compare with: --table FILE names one")
    else:
        report.problems.extend(compare(rows, _table(table)))
        if report.holds:
            report.observed.append(f"every entry is the one of {table}")
    return report


def _asked(path: Path) -> dict[str, str]:
    from trysquare.scenario import load

    scenario = load(path)
    return {"reference": scenario.reference, "criterion": scenario.verdict.criterion}


def _table(path: Path) -> dict[str, dict[str, str]]:
    try:
        found = read_json(path)
    except (FileNotFoundError, IsADirectoryError):
        raise ParityError(f"{path} is no file: name the published gap table.") from None
    rows = found.values() if isinstance(found, dict) else [None]
    if not all(isinstance(row, dict) and all(isinstance(text, str) for text in row.values()) for row in rows):
        raise ParityError(f'{path} is no gap table: write it as {{"cell": {{"in": "+120 *"}}}}.')
    return dict(found)
