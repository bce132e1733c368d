"""Reading a measured matrix from its directory, whichever tool wrote it.

`open_archive` gives the one view that comparing, the smoke pass and exports work on, so that nothing else knows of two
formats. An archive of the original trysquare has no plan: what its files do not say is listed in `Archive.lacks`. Where
that is needed after all, a scenario says it: `planning` makes a plan of it, `pages` a synthesis, `trees` the trees,
contexts and verdicts of its runs.
"""

from trysquare.readers.opening import is_original, open_archive
from trysquare.readers.view import Archive, ArchivedCell, ArchivedRun, ArchivedValidator

__all__ = ["Archive", "ArchivedCell", "ArchivedRun", "ArchivedValidator", "is_original", "open_archive"]
