"""The type of node keys, decided once for all tables of a graph."""

from collections.abc import Iterable, Sequence
from typing import Any

from nodegraft.base.errors import ParameterError
from nodegraft.graph.keys import KeyType
from nodegraft.tables.columns import SourceTable, are_integers, is_text

KeyColumn = tuple[SourceTable, str]
"""A table and the name of one of its columns of keys."""


def check_key_type(key_type: KeyType | None) -> None:
    """Refuse a key type that does not exist.

    Args:
        key_type: What a user gave.
    """
    if key_type not in (None, "text", "integer"):
        raise ParameterError(f"key_type is 'text', 'integer' or None, not {key_type!r}.")


def decide_key_type(columns: Iterable[KeyColumn]) -> KeyType:
    """Return the type that the keys of all tables agree on.

    A column that has a type decides. CSV files have none: their keys are integers only if each
    key of every table is spelt as an integer, without leading zeros, and text otherwise.

    Args:
        columns: All columns of keys; those of the table of nodes come first.
    """
    found = [(table, name, table.column(name)) for table, name in columns]
    for table, _, column in found:
        # A table that is read in batches shows empty columns that have their types.
        is_missing = len(column) > 0 and column.null_count == len(column)
        if table.typed and len(table) and not is_missing:
            return "text" if is_text(column) else "integer"
    texts = (table.text_column(name) for table, name, column in found if is_text(column))
    return "integer" if all(are_integers(column).all() for column in texts) else "text"


def in_one_key_type(
    tables: Sequence[tuple[SourceTable | None, Sequence[str]]], key_type: KeyType | None
) -> list[Any]:
    """Return tables whose columns of keys all have the same type.

    Args:
        tables: Each table, or None, with its columns of keys; the table of nodes comes first.
        key_type: The type; None to let :func:`decide_key_type` decide. Columns that have another
            type than the decided one are left as they are, to be refused when they are used.
    """
    columns = [(table, name) for table, names in tables if table is not None for name in names]
    decided = key_type or decide_key_type(columns)
    return [
        table.with_keys(names, decided) if table and (key_type or not table.typed) else table
        for table, names in tables
    ]
