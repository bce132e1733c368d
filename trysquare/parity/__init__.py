"""Showing that this tool reproduces the bench it replaces, layer by layer, from what is archived already.

::

    layer 1  the numbers of a session     exact, from archived sessions
    layer 2  scoring                      exact, from the etalon and each run's patch
    layer 3  aggregation and verdict      exact, from the published rows
    layer 4  launching the agent          another sample: only the wiring can be checked

Neither tool is the reference: two computations over one material are compared, and the material decides. A difference
in an exact layer blocks. Either this tool is wrong, or the published number is, or the archive cannot hold what it
takes (`retries`, which a session does not have), which is then left out by name.
"""

from trysquare.parity.aggregation import Case, Row, compare, layer3
from trysquare.parity.published import ParityError, archived_runs, published_by_id, read_bench_measures
from trysquare.parity.report import Report
from trysquare.parity.scoring import layer2
from trysquare.parity.smoke import layer4
from trysquare.parity.stripping import layer1

__all__ = [
    "Case",
    "ParityError",
    "Report",
    "Row",
    "archived_runs",
    "compare",
    "layer1",
    "layer2",
    "layer3",
    "layer4",
    "published_by_id",
    "read_bench_measures",
]
