"""A table as data, and how it looks in Markdown and LaTeX."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nodegraft.analysis.rendering.markup import to_latex

NUMBER = re.compile(r"[+\-–−]?\d|–$")


@dataclass(frozen=True)
class Table:
    """Cells of plain text, in which ``**bold**`` and ``*emphasis*`` may be marked.

    >>> print(Table("**gentoo**", ("a", "b"), (("1", "2"),)).markdown())
    **gentoo**
    <BLANKLINE>
    | a | b |
    |---|---|
    | 1 | 2 |
    """

    caption: str
    """What the table is about, or nothing."""

    head: tuple[str, ...]
    """The names of the columns."""

    rows: tuple[tuple[str, ...], ...]
    """The cells, as many in each row as there are columns."""

    @classmethod
    def of(cls, head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> "Table":
        """From any sequences.

        >>> Table.of(["a"], [["1"]]).rows
        (('1',),)
        """
        return cls(caption, tuple(head), tuple(map(tuple, rows)))

    def markdown(self) -> str:
        """As Markdown files have it."""
        lines = ["| " + " | ".join(self.head) + " |", "|" + "---|" * len(self.head)]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([self.caption, "", *lines] if self.caption else lines)

    def latex(self) -> str:
        r"""With the rules of booktabs, as wide as the text if it is wider.

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
        """Whether a column has only numbers, for each column."""
        columns = [[row[place].strip("*") for row in self.rows] for place in range(len(self.head))]
        return [all(NUMBER.match(cell) for cell in column) for column in columns]
