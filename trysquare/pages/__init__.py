"""One page for each run, beside the synthesis: what it answered and changed, how it was judged, its sessions."""

from trysquare.pages.runs import write_pages
from trysquare.pages.sessions import export

__all__ = ["export", "write_pages"]
