"""Choose one type for the key columns of all tables, and look up nodes by key."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.graph.disk.mapped_keys import MappedKeys, PackedTexts, Stored
from nodegraft.graph.keys import KeyArray, KeyType, NodeKeys, key_array
from nodegraft.tables.columns import SourceTable, are_integers, is_text


def check_key_type(key_type: KeyType | None) -> None:
    """Raise an error if the key type is not 'text', 'integer' or None."""
    if key_type not in (None, "text", "integer"):
        raise ParameterError(f"key_type is 'text', 'integer' or None, not {key_type!r}.")


def in_one_key_type(
    tables: Sequence[tuple[SourceTable | None, Sequence[str]]], key_type: KeyType | None
) -> list[Any]:
    """Convert the key columns of several tables to one type; return the tables.

    Args:
        tables: Pairs of a table (or None) and its key columns; the node table is first.
        key_type: Type of all keys. None to use the type of the first key column that has one; key
            columns of another type are then not converted, and reading them raises an error later.
            CSV columns have no type: if all tables are CSV files, keys are integers only if every
            key is written as an integer without leading zeros.
    """
    columns = [(table, name) for table, names in tables if table is not None for name in names]
    decided = key_type or _common_type(columns)
    return [
        table.with_keys(names, decided) if table and (key_type or not table.typed) else table
        for table, names in tables
    ]


def _common_type(columns: list[tuple[SourceTable, str]]) -> KeyType:
    for table, name in columns:
        column = table.column(name)
        # Use column types even if columns are empty, because a streamed table returns empty
        # columns.
        is_missing = len(column) > 0 and column.null_count == len(column)
        if table.typed and len(table) and not is_missing:
            return "text" if is_text(column) else "integer"
    texts = (table.text_column(name) for table, name in columns if is_text(table.column(name)))
    return "integer" if all(are_integers(column).all() for column in texts) else "text"


def node_keys(table: SourceTable, name: str) -> KeyArray:
    """Return the keys of a node table as an array; raise an error if a key is missing."""
    return _array(table, name, key_column(table, name))


def key_column(table: SourceTable, name: str) -> Any:
    """Return the keys of a node table as an Arrow column; raise an error if a key is missing."""
    column = table.column(name)
    if len(column) == 0:
        raise DataError("The table of nodes is empty.")
    if column.null_count or not (is_text(column) or pa.types.is_integer(column.type)):
        raise DataError(
            f"Column {name!r} of {table.place} must hold text or integers with no value missing; "
            f"it holds {column.type}, {column.null_count} missing."
        )
    return column


def keys_like(keys: NodeKeys, table: SourceTable, name: str) -> KeyArray:
    """Return a column of node keys of the same type as `keys`; missing keys are None."""
    return _array(table, name, _column_like(keys, table, name))


def _column_like(keys: NodeKeys, table: SourceTable, name: str) -> Any:
    column = table.column(name)
    alike = is_text(column) if keys.is_text else pa.types.is_integer(column.type)
    if not alike and column.null_count < len(column):
        raise DataError(
            f"Column {name!r} of {table.place} holds {column.type}, but the keys of the nodes are "
            f"{'text' if keys.is_text else 'integers'}: make both the same, or give "
            "key_type='text' (--key-type text) to read all keys as text."
        )
    return column


def _array(table: SourceTable, name: str, column: Any) -> KeyArray:
    # Convert values one at a time if some are missing: NumPy has no missing integers, and Arrow
    # would return floats.
    if is_text(column) or column.null_count:
        values = table.texts(name) if is_text(column) else column.to_pylist()
        return np.array([*values, None], dtype=object)[:-1]
    keys: KeyArray = column.to_numpy(zero_copy_only=False)
    return keys


def rows_named(keys: NodeKeys, table: SourceTable, name: str) -> NDArray[np.int64]:
    """Look up a column of keys; return the row number of each key's node, -1 for an unknown key."""
    column = _column_like(keys, table, name)
    if column.null_count == len(column):
        return np.full(len(column), -1, dtype=np.int64)
    if isinstance(keys, MappedKeys) and keys.is_text:
        rows = keys.find_stored(_packed(table.text_column(name)))
    elif keys.is_text and len(column) < len(keys) // 4:
        rows = keys.find(np.array(table.texts(name), dtype=object))
    elif keys.is_text:
        # Look up all keys in Arrow, which builds a hash table once and is several times as fast for
        # many keys.
        known = pa.array(keys.values(), pa.large_string())
        places = pc.index_in(table.text_column(name), value_set=known)
        rows = places.fill_null(-1).to_numpy().astype(np.int64)
    else:
        rows = keys.find(column.fill_null(0).to_numpy())
    if column.null_count:
        rows[column.is_null().to_numpy()] = -1
    return rows


def stored_keys(table: SourceTable, name: str) -> Stored:
    """Return the keys of a node table in the format in which a graph on disk stores them."""
    column = key_column(table, name)
    return _packed(table.text_column(name)) if is_text(column) else key_array(column.to_numpy())


def _packed(texts: Any) -> PackedTexts:
    array = texts.combine_chunks()
    _, ends, letters = array.buffers()
    places = np.frombuffer(ends, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    first, last = places[[0, -1]]
    return PackedTexts.padded(np.frombuffer(letters or b"", np.uint8)[first:last], places - first)
