"""Configuration of Sphinx. Nothing here needs the network."""

from __future__ import annotations

import shutil
import sys
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS / "_extensions")]

project = "kempe"
author = "The kempe developers"
copyright = "the kempe developers"
version = release = installed_version("kempe")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # Of our own, in docs/_extensions.
    "command_reference",
    "mathml",
    "pictures",
    "signatures",
]
exclude_patterns = ["_build", "_generated", "_templates", "results"]
templates_path = ["_templates"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "substitution"]
# Figures of the landing page, from the tables that were measured.
myst_substitutions = import_module("promises").figures()
myst_heading_anchors = 3
html_math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,  # that page asks a server for its style
    "abort_on_example_error": True,
    "capture_repr": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "kempe"
html_static_path = ["_static"]
html_css_files = ["kempe.css"]
html_favicon = "_static/favicon.svg"
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/kempe-clustering/kempe",
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Pages with others below them show these; elsewhere the place is for the text.
html_sidebars = {"*": [], "api": ["sidebar-nav-bs"]}


def copy_results(app, exception):
    """Take the report of results along, which is a page of its own; results.md links to it."""
    if exception is None and app.builder.format == "html":
        target = Path(app.outdir) / "results"
        target.mkdir(exist_ok=True)
        shutil.copy2(DOCS / "results" / "report.html", target)


def setup(app):
    app.connect("build-finished", copy_results)
