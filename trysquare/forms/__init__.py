"""Forms: what people answer about archived runs, blind and in an order that says nothing."""

from trysquare.forms.answers import FormError, answered, on_disk, pending, pending_lines
from trysquare.forms.asking import write_forms
from trysquare.forms.ingesting import Report, ingest

__all__ = ["FormError", "Report", "answered", "ingest", "on_disk", "pending", "pending_lines", "write_forms"]
