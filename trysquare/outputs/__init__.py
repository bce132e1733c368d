"""The output tree: what experiments, cells and runs are called, where they are, and what must be said about them.

::

    <output>/<scenario>_<etalon>_<provider>_<model>_n<N>/
      runs/<cell>/<id>/      grouped, or runs/<id>/ when the tree is blind

`trysquare.layout` draws the rest.
"""

from typing import TYPE_CHECKING

from trysquare.files import write_json, write_text
from trysquare.outputs.carry import Carried, Prior, carryable, prior
from trysquare.outputs.names import cell_dir, experiment_name, identity, run_id, slug
from trysquare.outputs.notes import LABELS, carried_note, incomplete_note, unmeasured_note
from trysquare.outputs.paths import (
    DERIVED,
    archived_run_dirs,
    is_run_dir,
    largest,
    ledger_run_dirs,
    matrices,
    measures_in,
    own_trace,
    per_cell,
    run_location,
    sniff_layout,
)

if TYPE_CHECKING:
    from trysquare.scenario import Cell, Scenario

__all__ = [
    "DERIVED",
    "LABELS",
    "Carried",
    "Prior",
    "archived_run_dirs",
    "carried_note",
    "carryable",
    "cell_dir",
    "cell_fingerprint",
    "experiment_name",
    "identity",
    "incomplete_note",
    "is_run_dir",
    "largest",
    "ledger_run_dirs",
    "matrices",
    "measures_in",
    "own_trace",
    "per_cell",
    "prior",
    "run_id",
    "run_location",
    "slug",
    "sniff_layout",
    "unmeasured_note",
    "write_json",
    "write_text",
]


def cell_fingerprint(scenario: "Scenario", cell: "Cell") -> str:
    """The digest of everything a cell resolves to, contents of its files included.

    Raises
    ------
    ScenarioError
        When a file it needs cannot be read.
    """
    from trysquare.runner.freeze import Freezer

    return Freezer(scenario).cell(cell).fingerprint
