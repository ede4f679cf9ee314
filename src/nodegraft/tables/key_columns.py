"""Columns that name nodes, looked up without a Python object for each of their values."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodegraft.graph.disk.mapped_keys import MappedKeys, Stored
from nodegraft.graph.disk.packed_texts import PackedTexts
from nodegraft.graph.keys import NodeKeys, key_array
from nodegraft.tables.columns import SourceTable, column_like, is_text, key_column


def rows_named(keys: NodeKeys, table: SourceTable, name: str) -> NDArray[np.int64]:
    """The rows of the nodes that a column names, -1 where there is no such node.

    Args:
        keys: The nodes.
        table: A table that names some.
        name: The column that does.
    """
    column = column_like(keys, table, name)
    if column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.int64)
    if isinstance(keys, MappedKeys) and keys.is_text:
        found = keys.find_stored(_packed(table.text_column(name)))
    elif keys.is_text and len(column) < len(keys) // 4:
        found = keys.find(np.array(table.texts(name), dtype=object))
    elif keys.is_text:
        # Arrow needs a table of all keys first, and is several times as fast then.
        known = pa.array(keys.values(), pa.large_string())
        places = pc.index_in(table.text_column(name), value_set=known)
        found = places.fill_null(-1).to_numpy().astype(np.int64)
    else:
        found = keys.find(column.fill_null(0).to_numpy())
    if column.null_count:
        found[column.is_null().to_numpy()] = -1
    return found


def stored_keys(table: SourceTable, name: str) -> Stored:
    """The keys of nodes as they are kept on disk.

    Args:
        table: The table of nodes, or a part of it.
        name: The column of keys.
    """
    column = key_column(table, name)
    return _packed(table.text_column(name)) if is_text(column) else key_array(column.to_numpy())


def _packed(texts: Any) -> PackedTexts:
    array = texts.combine_chunks()
    _, ends, letters = array.buffers()
    places = np.frombuffer(ends, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    if letters is None:
        letters = b""
    first, last = places[[0, -1]]
    return PackedTexts.padded(np.frombuffer(letters, np.uint8)[first:last], places - first)
