"""Planning a matrix: what will run, in which order, from which bytes, and everything that is refused first.

Nothing here writes but `settle`, which pins what is elsewhere into the work directory.
"""

from trysquare.runner.archived import frozen
from trysquare.runner.bricks import brick_paths, preflight, read_brick, referenced_paths
from trysquare.runner.header import header
from trysquare.runner.notes import available_note, drift_notes, gone_note, measured_before
from trysquare.runner.plan import Plan, interleave, stream_ceiling
from trysquare.runner.refusing import (
    refuse_carry,
    refuse_changed,
    refuse_foreign,
    refuse_inherited_context,
    refuse_measured,
    refuse_unknown_cells,
    refuse_unmeasurable,
    refuse_unusable_places,
)
from trysquare.runner.resolving import resolve, resolve_all, settle
from trysquare.runner.settings import Settings, SettingsError
from trysquare.runner.sources import (
    extension_path,
    harness_dir,
    install_dependencies,
    prepare_harness,
    prepare_source,
    settle_repo,
    source_dir,
)

__all__ = [
    "Plan",
    "Settings",
    "SettingsError",
    "available_note",
    "brick_paths",
    "drift_notes",
    "extension_path",
    "frozen",
    "gone_note",
    "harness_dir",
    "header",
    "install_dependencies",
    "interleave",
    "measured_before",
    "preflight",
    "prepare_harness",
    "prepare_source",
    "read_brick",
    "referenced_paths",
    "refuse_carry",
    "refuse_changed",
    "refuse_foreign",
    "refuse_inherited_context",
    "refuse_measured",
    "refuse_unknown_cells",
    "refuse_unmeasurable",
    "refuse_unusable_places",
    "resolve",
    "resolve_all",
    "settle",
    "settle_repo",
    "source_dir",
    "stream_ceiling",
]
