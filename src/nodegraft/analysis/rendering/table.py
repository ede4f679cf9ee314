"""Tables of text that can be rendered as Markdown, LaTeX and HTML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
    r"""Escape a text for LaTeX, and convert bold and emphasis marks to LaTeX commands.

    >>> to_latex("**+5 %** of *all_nodes*")
    '\\textbf{+5 \\%} of \\emph{all\\_nodes}'
    """
    escaped = "".join(LATEX.get(letter, letter) for letter in text)
    return EMPHASIS.sub(r"\\emph{\1}", BOLD.sub(r"\\textbf{\1}", escaped))


def to_html(text: str) -> str:
    """Escape a text for HTML, and convert bold and emphasis marks to HTML elements.

    >>> to_html("**a** & *b*")
    '<strong>a</strong> &amp; <em>b</em>'
    """
    return EMPHASIS.sub(r"<em>\1</em>", BOLD.sub(r"<strong>\1</strong>", escape(text)))


NUMBER = re.compile(r"[+\-–−]?\d|–$")


@dataclass(frozen=True)
class Table:
    """Table of plain text; cells may contain ``**bold**`` and ``*emphasis*``.

    >>> print(Table("**gentoo**", ("a", "b"), (("1", "2"),)).markdown())
    **gentoo**
    <BLANKLINE>
    | a | b |
    |---|---|
    | 1 | 2 |
    """

    caption: str
    """Caption of the table; empty for none."""

    head: tuple[str, ...]
    """Column names."""

    rows: tuple[tuple[str, ...], ...]
    """Rows of cells, each with one cell per column."""

    @classmethod
    def of(cls, head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> "Table":
        """Return a table from any sequences.

        >>> Table.of(["a"], [["1"]]).rows
        (('1',),)
        """
        return cls(caption, tuple(head), tuple(map(tuple, rows)))

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = ["| " + " | ".join(self.head) + " |", "|" + "---|" * len(self.head)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([self.caption, "", *lines] if self.caption else lines)

    def latex(self) -> str:
        r"""Return the table as LaTeX with booktabs rules, shrunk to the line width if it is wider.

        >>> print(Table.of(["of 100 %"], [["5 ± 1"]]).latex())
        % needs \usepackage{booktabs,graphicx}
        \begin{table}
        \centering
        \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%
        \begin{tabular}{r}
        \toprule
        of 100 \% \\
        \midrule
        5 $\pm$ 1 \\
        \bottomrule
        \end{tabular}}
        \end{table}
        """
        head, *rows = (" & ".join(map(to_latex, row)) + r" \\" for row in (self.head, *self.rows))
        sides = "".join("r" if right else "l" for right in self.right_aligned)
        lines = [r"% needs \usepackage{booktabs,graphicx}", r"\begin{table}", r"\centering"]
        lines += [rf"\caption{{{to_latex(self.caption)}}}"] * bool(self.caption)
        lines += [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"]
        lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}"])

    @property
    def right_aligned(self) -> list[bool]:
        """Whether each column contains only numbers."""
        columns = [[row[place].strip("*") for row in self.rows] for place in range(len(self.head))]
        return [all(NUMBER.match(cell) for cell in column) for column in columns]
