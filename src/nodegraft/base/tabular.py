"""Results that convert to Arrow tables and DataFrames, and that notebooks show as tables."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from nodegraft.base.errors import MissingExtraError
from nodegraft.base.html import shown, table_html

Record = TypeVar("Record")

ROWS, COLUMNS = 20, 20
"""Largest number of rows and columns that are shown; to_arrow() has all."""


class Tabular:
    """Result that can be converted to an Arrow table.

    A notebook shows its first rows. Libraries that read the Arrow C stream interface take it as it
    is: ``polars.DataFrame(result)``, ``pyarrow.table(result)``.
    """

    def to_arrow(self) -> Any:
        """Return a pyarrow.Table."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame; pandas must be installed."""
        try:
            return self.to_arrow().to_pandas()
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                "A DataFrame needs pandas: pip install pandas. to_arrow() needs nothing more."
            ) from error

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the table for another library.

        Args:
            requested_schema: Types that the other library asks for; None for those of the table.
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
    """Table of named columns.

    >>> ColumnTable({"class": ["hats", "shoes"], "labels": [3, 12]})
    class  labels
    hats   3
    shoes  12
    [2 rows]
    """

    columns: Mapping[str, Sequence[Any]]
    """Name -> values of the column."""

    def to_arrow(self) -> Any:
        """Return a table with these columns."""
        # Imported here because it is slow to import.
        import pyarrow as pa

        return pa.table(dict(self.columns))

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))


class Records(list[Record], Tabular):
    """List of dataclasses of one class that can be converted to a table."""

    def to_arrow(self) -> Any:
        """Return a table with a column for each field; dicts become JSON."""
        # Imported here because it is slow to import.
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
    """Return an Arrow table whose nested cells are JSON text, for formats without lists."""
    import pyarrow as pa

    for place, kind in enumerate(table.schema.types):
        if pa.types.is_nested(kind):
            texts = [json.dumps(cell, ensure_ascii=False) for cell in table[place].to_pylist()]
            table = table.set_column(place, table.column_names[place], pa.array(texts, pa.string()))
    return table


def _beginning(table: Any) -> tuple[list[str], list[list[Any]], str]:
    """Return names and rows that are shown of a table, and a note on the number of rows."""
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
