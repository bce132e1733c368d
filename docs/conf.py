"""How the user guide is built."""

project = "trysquare"
author = "the trysquare authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = "trysquare"
exclude_patterns: list[str] = []
myst_heading_anchors = 3
autodoc_member_order = "bysource"
nitpicky = False
