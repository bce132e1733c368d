"""A drawn figure as an SVG element of a page, with the page's fonts and colours."""

import io
import re
import warnings
from typing import TYPE_CHECKING
from xml.etree import ElementTree

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, MUTED, HAIRLINE, ACCENT, PAPER = "#010101", "#020202", "#030303", "#040404", "#050505"
COLOURS = {
    INK: "currentColor",
    MUTED: "var(--muted, #5c5a55)",
    HAIRLINE: "var(--hairline, #cfcbc2)",
    ACCENT: "var(--accent, #0a5f73)",
    PAPER: "var(--paper, #ffffff)",
}
"""The colours to draw with, each standing for one of the page's."""

SVG = "http://www.w3.org/2000/svg"
STYLE = "font-family: inherit; stroke-linejoin: round; stroke-linecap: butt"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")


def printable(text: str) -> str:
    """A text on one line, without characters that XML cannot hold."""
    return "".join(c if c.isprintable() else " " for c in text)


def element(figure: "Figure", key: str, description: str) -> str:
    """The figure as one SVG element that can stand beside others in a page; `key` makes its ids its own."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        # The reader's fonts draw the text; a glyph missing from matplotlib's own font is no loss.
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        figure.savefig(buffer, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    drawn = ElementTree.fromstring(buffer.getvalue())
    # The first definitions are a style sheet, which in a page would apply to the whole of it.
    for child in [child for child in drawn if child.find(f"{{{SVG}}}style") is not None]:
        drawn.remove(child)
    for part in drawn.iter():
        _own(part, "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in key))
    named = {"role": "img", "aria-label": printable(description), "viewBox": drawn.get("viewBox", ""), "style": STYLE}
    root = ElementTree.Element(f"{{{SVG}}}svg", named)
    root.extend(drawn)
    return ElementTree.tostring(root, encoding="unicode")


def _own(element: ElementTree.Element, prefix: str) -> None:
    """Give an element ids that nothing else in the page has, and the page's colours and font."""
    attributes = element.attrib
    if element.tag == f"{{{SVG}}}g":
        attributes.pop("id", None)
    if element.tag != f"{{{SVG}}}text":
        element.text = None
    element.tail = "\n"
    if attributes.get("transform", "").startswith("rotate(-0 "):
        del attributes["transform"]
    for name, value in attributes.items():
        if name == "id":
            attributes[name] = f"{prefix}-{value}"
        elif name == "style":
            attributes[name] = _style(value)
        elif name == "d":
            attributes[name] = " ".join(value.split())
        elif value.startswith("#"):
            attributes[name] = f"#{prefix}-{value[1:]}"
        else:
            attributes[name] = value.replace("url(#", f"url(#{prefix}-")


def _style(style: str) -> str:
    """A style with the page's colours and without matplotlib's font families, in either way it writes fonts."""
    style = re.sub(r"font: ((?:\S+ )*?)([\d.]+px) [^;]*", r"font-weight: \1; font-size: \2", style)
    style = re.sub(r"font-family: [^;]*;? ?|font-weight: ;  ?", "", style)
    for sentinel, colour in COLOURS.items():
        style = style.replace(sentinel, colour)
    return style
