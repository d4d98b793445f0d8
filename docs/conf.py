"""The site: `make docs` builds it offline into docs/_build/html."""

import sys
from pathlib import Path

import widemargin

sys.path.insert(0, str(Path(__file__).parents[1]))

project = "widemargin"
author = "the widemargin maintainers"
copyright = f"2026, {author}"  # noqa: A001 (Sphinx's name)
release = version = widemargin.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/GALLERY_HEADER.rst"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": False}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "show_signature": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
}

html_theme = "furo"
html_title = "widemargin"
html_show_sphinx = False
templates_path = []
