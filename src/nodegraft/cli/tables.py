"""Tables that commands are given, and tables that they write."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import pyarrow as pa

from nodegraft.base.errors import DataError, ParameterError

if TYPE_CHECKING:
    from nodegraft.graph.graph import Graph
    from nodegraft.graph.keys import Key


def column_of_keys(
    table: str, key: str, graph: "Graph", delimiter: str | None = None
) -> "list[Key]":
    """The node keys in a table, in the type of the graph's keys; text that is no integer stays.

    Args:
        table: A file.
        key: Their column.
        graph: The graph that they name nodes of.
        delimiter: What separates the columns of a CSV file; None to look at its header.
    """
    from nodegraft.graph.keys import integer_key_or_text
    from nodegraft.tables.columns import is_text, keys_like, read_source, require_columns

    read = read_source(table, "nodes", (key,), delimiter)
    require_columns([(read, (key,))], "Name the column of node keys with --key.")
    if not graph.has_text_keys and is_text(read.column(key)):
        # Such a key names no node of this graph, which must not end the batch.
        texts = read.texts(key)
        return cast("list[Key]", [text and integer_key_or_text(text) for text in texts])
    read = read.with_keys([key], graph.node_keys.key_type)
    found: list[Key] = keys_like(graph.node_keys, read, key).tolist()
    return found


def write_tables(tables: Iterable[pa.Table], place: Path) -> None:
    """A new file, in the format that its name says; a table at a time, each a row group.

    Args:
        tables: What is written, one below the other; at least one.
        place: A name that ends in .parquet or .csv.
    """
    from pyarrow import csv, parquet

    writers = {".parquet": parquet.ParquetWriter, ".csv": csv.CSVWriter}
    if place.suffix not in writers:
        raise ParameterError(f"{place} must end in .parquet or .csv.")
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    parts = iter(tables)
    try:
        first = next(parts)
        with writers[place.suffix](str(draft), first.schema) as writer:
            for part in chain((first,), parts):
                writer.write_table(part)
        draft.replace(place)
    except OSError as error:
        raise DataError(f"{place} cannot be written: {error}.") from error
    finally:
        draft.unlink(missing_ok=True)
