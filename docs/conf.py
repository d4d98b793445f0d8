"""The site: `make docs` builds it offline into docs/_build/html."""

import re
import shutil
from pathlib import Path

import widemargin

HERE = Path(__file__).parent
BESIDE = {
    "adr": "adr",
    "benchmarks": "measuring",
}  # folders beside docs/ whose pages join the site, and their names there
for folder, name in BESIDE.items():
    shutil.rmtree(HERE / name, ignore_errors=True)
    shutil.copytree(
        HERE.parent / folder, HERE / name, ignore=lambda _, names: [n for n in names if not n.endswith(".md")]
    )

project = "widemargin"
author = "the widemargin maintainers"
copyright = f"2026, {author}"  # noqa: A001 (Sphinx's name)
release = version = widemargin.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/GALLERY_HEADER.rst"]
myst_heading_anchors = 3
suppress_warnings = ["config.cache", "ref.ref", "ref.term"]  # inherited docstrings refer to pages of scikit-learn

autosummary_generate = True
autodoc_default_options = {
    "members": True,
    "inherited-members": False,
    "exclude-members": "set_fit_request, set_score_request, set_split_request, set_transform_request",
}
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


def as_on_the_site(_, name, source):
    """Links that lead from the repository's folders to each other lead to the pages' places on the site."""
    text = source[0]
    for folder, place in BESIDE.items():
        text = text.replace(f"](../{folder})", "](design.md)")
        text = text.replace(f"](../{folder}/", f"]({place}/")
    if name.split("/")[0] in BESIDE.values():
        text = "---\norphan: true\n---\n\n" + text.replace("](../docs/", "](../")
    source[0] = text


def with_bars(_app, _what, _name, _thing, _options, lines):
    """Absolute values in docstrings are no substitutions."""
    lines[:] = [re.sub(r"(``[^`]*``|`[^`]*`)|\|", lambda m: m.group(1) or r"\|", line) for line in lines]


def setup(app):
    """Join the pages beside docs/."""
    app.connect("source-read", as_on_the_site)
    app.connect("autodoc-process-docstring", with_bars)
