"""How Sphinx builds the site; see `docs/site/__main__.py`."""

from nnbo_mip.core.version import __version__

project = "nnbo_mip"
author = "nnbo_mip contributors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
templates_path: list[str] = []
suppress_warnings = ["misc.highlighting_failure"]  # ```csv: Pygments colours no tables
html_theme = "furo"
html_title = f"nnbo_mip {release}"
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False

# Pages in Markdown. Anchors are those that GitHub makes of headings.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Docstrings are NumPy-style; `name` in them is code or a name of the package.
default_role = "py:obj"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_class_signature = "mixed"

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
