"""A table as data, and how it looks in Markdown, LaTeX and HTML."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from nodegraft.analysis.rendering.markup import to_html, to_latex

# Shown by the style sheet while there is more to the right, where the browser can tell.
SCROLL_HINT = '<div class="hint" aria-hidden="true">scroll sideways →</div>'
NUMBER = re.compile(r"[+\-–]?\d|–$")


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

        Args:
            head: The names of the columns.
            rows: The cells, row by row.
            caption: What the table is about, or nothing.
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
        sides = "".join("r" if right else "l" for right in self._right())
        lines = [r"% needs \usepackage{booktabs,graphicx}", r"\begin{table}", r"\centering"]
        lines += [rf"\caption{{{to_latex(self.caption)}}}"] * bool(self.caption)
        lines += [r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"]
        lines += [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *rows]
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}"])

    def html(self) -> str:
        """In a box of its own to scroll in, so that a wide table does not widen the page."""
        right = [' class="number"' if right else "" for right in self._right()]
        head = "".join(
            f'<th scope="col"{side}>{to_html(cell)}</th>'
            for side, cell in zip(right, self.head, strict=True)
        )
        lines = [
            f'<tr><th scope="row">{_kept_together(to_html(row[0]))}</th>'
            + "".join(
                f"<td{side}>{to_html(cell)}</td>"
                for side, cell in zip(right[1:], row[1:], strict=True)
            )
            + "</tr>"
            for row in self.rows
        ]
        caption = (
            f"<caption><span>{to_html(self.caption)}</span></caption>\n" if self.caption else ""
        )
        label = escape(self.caption.replace("*", "") or "Table")
        return (
            f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">\n'
            f"{SCROLL_HINT}\n<table>\n"
            f"{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n"
            + "\n".join(lines)
            + "\n</tbody>\n</table>\n</div>"
        )

    def _right(self) -> list[bool]:
        columns = [[row[place].strip("*") for row in self.rows] for place in range(len(self.head))]
        return [all(NUMBER.match(cell) for cell in column) for column in columns]


def _kept_together(name: str) -> str:
    # "(n = 5)" and "3-way" move to the next line as a whole.
    whole = re.sub(r"\d+-(?:way|shot)\b", r'<span class="whole">\g<0></span>', name)
    return re.sub(r"\(n = ([\d to]+)\)$", r'<span class="n">(n = \1)</span>', whole)
