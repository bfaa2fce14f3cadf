"""Configuration of Sphinx. Nothing here needs the network."""

from __future__ import annotations

from importlib.metadata import version as installed_version

project = "kempe"
author = "The kempe developers"
copyright = "the kempe developers"
version = release = installed_version("kempe")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_generated", "results"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "abort_on_example_error": True,
    "capture_repr": (),
}

html_theme = "pydata_sphinx_theme"
html_title = "kempe"
html_static_path = ["_static"]
html_theme_options = {
    "github_url": "https://github.com/kempe-clustering/kempe",
    "show_prev_next": False,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
}
# Only the examples and the reference have pages below them; elsewhere the place is for the text.
WITHOUT_SIDEBAR = (
    "index install user_guide report choosing_k comparing service methods benchmarks performance "
    "architecture changelog"
)
html_sidebars = {page: [] for page in WITHOUT_SIDEBAR.split()}
