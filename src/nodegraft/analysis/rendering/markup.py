"""Plain text with ``**bold**`` and ``*emphasis*`` in it, for LaTeX and for HTML."""

import re
from html import escape

BOLD, EMPHASIS = re.compile(r"\*\*(.+?)\*\*"), re.compile(r"\*(.+?)\*")
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
    "—": "---",
    "…": r"\dots{}",
}


def to_latex(text: str) -> str:
    r"""Escaped for LaTeX, with marks turned into its commands.

    >>> to_latex("**+5 %** of *all_nodes*")
    '\\textbf{+5 \\%} of \\emph{all\\_nodes}'
    """
    escaped = "".join(LATEX.get(letter, letter) for letter in text)
    return EMPHASIS.sub(r"\\emph{\1}", BOLD.sub(r"\\textbf{\1}", escaped))


def to_html(text: str) -> str:
    """Escaped for HTML, with marks turned into its elements.

    >>> to_html("**a** & *b*")
    '<strong>a</strong> &amp; <em>b</em>'
    """
    return EMPHASIS.sub(r"<em>\1</em>", BOLD.sub(r"<strong>\1</strong>", escape(text)))
