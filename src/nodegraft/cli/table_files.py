"""Output of result tables as CSV or Parquet, to a file or to standard output."""

import json
import sys
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from nodegraft.base.errors import DataError
from nodegraft.base.tabular import with_text_cells

if TYPE_CHECKING:
    import pyarrow as pa

STDOUT = "-"


def write_tables(tables: "Iterable[pa.Table]", place: str, is_csv: bool) -> None:
    """Write tables with the same schema to one file; each becomes a row group in Parquet.

    Args:
        place: Path of the file; ``-`` for standard output.
        is_csv: Whether to write CSV instead of Parquet.
    """
    if is_csv:
        tables = map(with_text_cells, tables)
    parts = iter(tables)
    first = next(parts)
    if place == STDOUT:
        sys.stdout.flush()
        _write(chain((first,), parts), first, getattr(sys.stdout, "buffer", sys.stdout), is_csv)
        return
    file = Path(place)
    draft = file.parent / f".{file.name}.{uuid4().hex}"
    try:
        with draft.open("wb") as sink:
            _write(chain((first,), parts), first, sink, is_csv)
        draft.replace(file)
    except OSError as error:
        raise DataError(f"{place} cannot be written: {error}.") from error
    finally:
        draft.unlink(missing_ok=True)


def _write(tables: "Iterable[pa.Table]", first: "pa.Table", sink: Any, is_csv: bool) -> None:
    from pyarrow import csv, parquet

    with (csv.CSVWriter if is_csv else parquet.ParquetWriter)(sink, first.schema) as writer:
        for table in tables:
            writer.write_table(table)


def table_of(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> "pa.Table":
    """Convert rows of plain JSON to a table; encode cells with objects or lists as JSON text.

    Args:
        rows: Column name -> cell, for each row.
    """
    import pyarrow as pa

    columns = {name: [_cell(row[name]) for row in rows] for name in names}
    try:
        return pa.table(columns)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        # If a column has mixed types, such as the values of settings, convert its cells to text.
        texts = {
            name: [None if cell is None else str(cell) for cell in cells]
            for name, cells in columns.items()
        }
        return pa.table(texts)


def _cell(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
