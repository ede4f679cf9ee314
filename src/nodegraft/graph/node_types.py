"""Names of node types in keys: ``17`` is a node of the first type, ``user:17`` of the type user.

The first node type has the labels and is classified. Nodes of other types connect its nodes. The
argument ``types`` has the names of all types, the classified one first; it is empty if nodes have
no types.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError, ParameterError
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.keys import Key, KeyArray

SEPARATOR = ":"
"""Character between a node type and a key, or between a node type and a column."""

KEY = "key"
"""Default name of the column with node keys."""

_NAME = re.compile(r"[^\s:=]+")


def check_node_types(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of node types; raise an error for a name that cannot be part of a key.

    >>> check_node_types(["product", "user"])
    ('product', 'user')
    """
    wrong = [name for name in names if not _NAME.fullmatch(str(name))]
    if wrong:
        raise ParameterError(
            f"A node type is a word without blanks, ':' and '=', not {wrong[0]!r}."
        )
    return tuple(map(str, names))


def qualified(name: str, node_type: str, types: Sequence[str]) -> str:
    """Return the name of a key or column in the joined tables.

    >>> qualified("17", "user", ["product", "user"]), qualified("17", "product", ["product"])
    ('user:17', '17')
    """
    return name if node_type == types[0] else f"{node_type}{SEPARATOR}{name}"


def type_of(name: Key, types: Sequence[str]) -> str:
    """Return the node type of a key or column.

    >>> [type_of(key, ["product", "user"]) for key in ("17", "user:17", "other:17")]
    ['product', 'user', 'product']
    """
    before, separator, _ = str(name).partition(SEPARATOR)
    return before if separator and before in types[1:] else types[0]


def type_numbers(keys: KeyArray, types: Sequence[str]) -> NDArray[np.int64]:
    """Return the position of each key's node type in ``types``."""
    if keys.dtype != object:
        return np.zeros(keys.size, dtype=np.int64)
    number = {name: place for place, name in enumerate(types)}
    found = (
        number.get(before, 0) if separator else 0
        for before, separator, _ in (key.partition(SEPARATOR) for key in keys.tolist())
    )
    return np.fromiter(found, dtype=np.int64, count=keys.size)


def anonymous_keys(keys: KeyArray, types: Sequence[str]) -> KeyArray:
    """Return row numbers as keys; as text with the type of each node if nodes have types.

    >>> keys = np.array(["p9", "user:7"], dtype=object)
    >>> anonymous_keys(keys, ["product", "user"]).tolist()
    ['0', 'user:1']
    """
    numbers = np.arange(keys.size)
    if len(types) < 2:
        return numbers
    named = [types[number] for number in type_numbers(keys, types)]
    pairs = zip(numbers.tolist(), named, strict=True)
    return np.array([qualified(str(row), name, types) for row, name in pairs], dtype=object)


def key_column(key: str | Mapping[str, str], types: Sequence[str]) -> str:
    """Return the key column in tables of classified nodes.

    >>> key_column({"user": "user_id", "product": "sku"}, ["product", "user"])
    'sku'

    Args:
        key: Column of all tables, or a mapping from node type to column.
    """
    validate_value("key", key, str | Mapping[str, str] if types else str)
    return key if isinstance(key, str) else key.get(types[0], KEY)


def refuse_other_types(keys: KeyArray, types: Sequence[str]) -> None:
    """Raise an error if any of the nodes has a type that is not classified."""
    others = keys[type_numbers(keys, types) > 0]
    if others.size:
        raise DataError(
            f"{others[0]!r} is a node of type {type_of(others[0], types)}: only nodes of type "
            f"{types[0]} have a class. They are named by their own key, without a type."
        )
