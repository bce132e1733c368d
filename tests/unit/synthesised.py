"""A synthesis of the plain experiment or of one like it, and what a test asks of its page."""

from functools import cache
from html.parser import HTMLParser

from tests.matrices import LAUNCHES, matrix, rows
from trysquare.synthesis import build, markdown, page

HOSTILE = "<script>alert(1)</script> \"a\" 'b' 100% #1? ü|`x`*y*_z_&amp;"


class Page(HTMLParser):
    """What a test asks of a page: its tags in order, and its text."""

    VOID = ("meta", "link", "br", "path", "use", "rect")

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.texts = [], [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append((self.open[-1], data))

    @property
    def text(self):
        return " ".join(data for _, data in self.texts)

    def attributes(self, name):
        return [attrs[name] for _, attrs in self.tags if name in attrs]


def built(plan=None, runs=None, **options):
    plan = plan or matrix()
    return build(plan, rows(plan) if runs is None else runs, LAUNCHES, **options)


@cache
def demo():
    """The plain experiment: its synthesis, its page and its markdown."""
    s = built()
    return s, page(s), markdown(s)


def by_cell(runs, cell):
    return [run for run in runs if run.cell == cell]
