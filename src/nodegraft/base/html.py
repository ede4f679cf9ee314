"""HTML that a notebook shows for an object: small escaped tables in the notebook's own colours."""

from collections.abc import Iterable, Sequence
from html import escape

LONGEST = 80
"""Largest number of letters of a cell; the rest is left out."""


def shown(value: object) -> str:
    """Return a value as text for a cell.

    >>> shown(0.98807), shown(None), shown(["a", "b"]), shown(9295)
    ('0.9881', '', 'a, b', '9295')
    """
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case float():
            text = f"{value:.4g}"
        case list() | tuple():
            text = ", ".join(map(str, value))
        case _:
            text = " ".join(str(value).split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def table_html(head: Sequence[str], rows: Iterable[Sequence[object]], note: str) -> str:
    """Return a table with a line of names above and a note below.

    >>> table_html(["<a>"], [[1]], "1 row").count("&lt;a&gt;")
    1

    Args:
        rows: Cells, row by row; numbers are right-aligned.
        note: Sentence below the table.
    """
    names = "".join(f"<th scope='col'>{escape(shown(name))}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return (
        f"<div style='overflow-x:auto'><table><thead><tr>{names}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div><p>{escape(note)}</p>"
    )


def summary_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Return a title and a table of facts, a line for each.

    >>> summary_html("Graph", [("nodes", "3")]).endswith("<td style='text-align:left'>3</td></tr>"
    ... "</tbody></table></div>")
    True

    Args:
        facts: Name and value of each fact; those without a value are left out.
    """
    left = "style='text-align:left'"
    lines = "".join(
        f"<tr><th scope='row' {left}>{escape(name)}</th><td {left}>{escape(value)}</td></tr>"
        for name, value in facts
        if value
    )
    return (
        f"<div style='overflow-x:auto'><strong>{escape(title)}</strong>"
        f"<table><tbody>{lines}</tbody></table></div>"
    )


def _cell(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    side = "right" if is_number else "left"
    return f"<td style='text-align:{side}'>{escape(shown(value))}</td>"
