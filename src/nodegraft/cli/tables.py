"""Tables that commands are given, and tables that they write."""

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from nodegraft.base.errors import DataError, ParameterError

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.keys import Key


def column_of_keys(table: Path, key: str, graph: "Graph") -> "list[Key]":
    """The node keys in a table.

    Args:
        table: A file.
        key: Their column.
        graph: The graph that they name nodes of.
    """
    from nodegraft.tables.columns import keys_like, read_source

    read = read_source(table, "nodes", (key,) if graph.has_text_keys else ())
    found: list[Key] = keys_like(graph.node_keys, read, key).tolist()
    return found


def write_table(table: pa.Table, place: Path) -> None:
    """A new file, in the format that its name says.

    Args:
        table: What is written.
        place: A name that ends in .parquet or .csv.
    """
    from pyarrow import csv, parquet

    writers = {".parquet": parquet.write_table, ".csv": csv.write_csv}
    if place.suffix not in writers:
        raise ParameterError(f"{place} must end in .parquet or .csv.")
    try:
        writers[place.suffix](table, str(place))
    except OSError as error:
        raise DataError(f"{place} cannot be written: {error}.") from error
