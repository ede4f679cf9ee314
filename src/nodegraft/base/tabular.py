"""Convert results to Arrow tables, DataFrames, and HTML tables for notebooks."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from typing import Any, TypeVar

from nodegraft.base.errors import MissingExtraError

LONGEST = 80
"""Maximum number of characters in a displayed table cell; longer text is truncated."""


def shown(value: object) -> str:
    """Format a value as the text of a table cell.

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
    """Return an HTML table with a header row, and with a note below the table.

    >>> table_html(["<a>"], [[1]], "1 row").count("&lt;a&gt;")
    1
    """
    names = "".join(f"<th scope='col'>{escape(shown(name))}</th>" for name in head)
    lines = "".join(f"<tr>{''.join(map(_html_cell, row))}</tr>" for row in rows)
    return (
        f"<div style='overflow-x:auto'><table><thead><tr>{names}</tr></thead>"
        f"<tbody>{lines}</tbody></table></div><p>{escape(note)}</p>"
    )


def summary_html(title: str, facts: Iterable[tuple[str, str]]) -> str:
    """Return an HTML table with a title, and with a row for each name and value.

    >>> summary_html("Graph", [("nodes", "3")]).endswith("<td style='text-align:left'>3</td></tr>"
    ... "</tbody></table></div>")
    True

    Args:
        facts: Pairs of a name and a value; pairs with an empty value are omitted.
    """
    style = "style='text-align:left'"
    lines = "".join(
        f"<tr><th scope='row' {style}>{escape(name)}</th><td {style}>{escape(value)}</td></tr>"
        for name, value in facts
        if value
    )
    return (
        f"<div style='overflow-x:auto'><strong>{escape(title)}</strong>"
        f"<table><tbody>{lines}</tbody></table></div>"
    )


def _html_cell(value: object) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    side = "right" if is_number else "left"
    return f"<td style='text-align:{side}'>{escape(shown(value))}</td>"


Record = TypeVar("Record")

ROWS, COLUMNS = 20, 20
"""Maximum number of rows and columns that a notebook shows; ``to_arrow()`` returns all of them."""


class Tabular:
    """Result that can be converted to an Arrow table.

    A notebook shows the first rows of the result. Libraries that support the Arrow C stream
    interface can read it directly: ``polars.DataFrame(result)``, ``pyarrow.table(result)``.
    """

    def to_arrow(self) -> Any:
        """Return the result as a pyarrow.Table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the result as a pandas.DataFrame; pandas must be installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "A DataFrame needs pandas: pip install pandas. to_arrow() needs nothing more."
            ) from error

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the table through the Arrow C stream interface.

        Args:
            requested_schema: Column types that the consumer requests; None for the types of the
                table.
        """
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return table_html(*_beginning(self.to_arrow()))

    def __repr__(self) -> str:
        head, rows, note = _beginning(self.to_arrow())
        cells = [list(map(shown, row)) for row in (head, *rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in cells]
        return "\n".join([*lines, f"[{note}]"])


@dataclass(frozen=True, repr=False)
class ColumnTable(Tabular):
    """Table with named columns.

    >>> ColumnTable({"class": ["hats", "shoes"], "labels": [3, 12]})
    class  labels
    hats   3
    shoes  12
    [2 rows]
    """

    columns: Mapping[str, Sequence[Any]]
    """Mapping from column name to column values."""

    def to_arrow(self) -> Any:
        """Return the columns as a pyarrow.Table."""
        # Import pyarrow only when needed, because the import is slow.
        import pyarrow as pa

        return pa.table(dict(self.columns))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


class Records(list[Record], Tabular):
    """List of dataclass instances of the same class, which can be converted to a table."""

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table with a column for each dataclass field; dicts become JSON text."""
        # Import pyarrow only when needed, because the import is slow.
        import pyarrow as pa

        names = [field.name for field in fields(self[0])] if self else []  # type: ignore[arg-type]
        return pa.table({name: [_cell(getattr(item, name)) for item in self] for name in names})

    def _repr_html_(self) -> str:
        if not self or not hasattr(self[0], "facts"):
            return super()._repr_html_()
        facts = [dict(row.facts()) for row in self]  # type: ignore[attr-defined]
        names = list(facts[0])
        return ColumnTable({name: [row[name] for row in facts] for name in names})._repr_html_()


def with_text_cells(table: Any) -> Any:
    """Convert nested columns of an Arrow table to JSON text.

    Some file formats cannot store lists.
    """
    import pyarrow as pa

    for place, kind in enumerate(table.schema.types):
        if pa.types.is_nested(kind):
            cells = table[place].to_pylist()
            # Convert dates and decimals to text, because JSON has no such types.
            texts = [json.dumps(cell, ensure_ascii=False, default=str) for cell in cells]
            table = table.set_column(place, table.column_names[place], pa.array(texts, pa.string()))
    return table


def _beginning(table: Any) -> tuple[list[str], list[list[Any]], str]:
    """Return the column names and rows to display, and a note on the number of rows."""
    some = table.slice(0, ROWS).select(range(min(COLUMNS, table.num_columns)))
    rows = [
        list(row)
        for row in zip(*(some.column(i).to_pylist() for i in range(some.num_columns)), strict=True)
    ]
    note = f"{table.num_rows:,} row{'s' * (table.num_rows != 1)}"
    note += f", the first {ROWS} shown" * (table.num_rows > ROWS)
    wide = table.num_columns > COLUMNS
    note += f"; the first {COLUMNS} of {table.num_columns} columns shown" if wide else ""
    return list(some.column_names), rows, note


def _cell(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict) else value
