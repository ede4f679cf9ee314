"""How the pages are built: ``sphinx-build -W docs docs/_build``, with nodegraft[docs] installed."""

import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parents[1]))
from docs.program_reference import write_pages

project = "nodegraft"
author = "The nodegraft authors"
release = metadata.version("nodegraft")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # docs.run_notebooks stores the outputs
templates_path = ["_templates"]
autosummary_generate = True
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = True
exclude_patterns = [
    "_build",
    "jupyter_execute",
    "explanation/graft-signals.md",
    "explanation/*-measured.md",
]

linkcheck_ignore = [r"http://localhost"]  # sphinx-build -b linkcheck docs docs/_build/links

nitpicky = True
# Annotations name other libraries, whose pages are not asked for; what is written must be there.
nitpick_ignore_regex = [("py:class", ".*")]

autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80

html_theme = "furo"
html_title = "nodegraft"
html_use_index = False
html_static_path = ["_static"]
html_css_files = ["nodegraft.css"]
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"


def write_math(translator: Any, node: nodes.math | nodes.math_block) -> None:
    """Formulas become MathML when the page is built: readers need neither scripts nor a network."""
    is_block = isinstance(node, nodes.math_block)
    formula = tex2mathml(node.astext(), as_block=is_block)
    translator.body.append(f'<div class="math">{formula}</div>' if is_block else formula)
    raise nodes.SkipNode


ARRAY = re.compile(r"numpy\.ndarray\[tuple\[[^]]*\], ~?numpy\.dtype\[[^][]*(\[[^][]*\])?\]\]")


def shorten_arrays(*event: Any) -> tuple[str, str | None] | None:
    """An array is called one, without the types of its shape and of its numbers."""
    arguments, returned = (part and ARRAY.sub("numpy.ndarray", part) for part in event[-2:])
    return (arguments, returned) if arguments else None


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (write_math, None), (write_math, None))
    write_pages()
    app.connect("autodoc-process-signature", shorten_arrays)
