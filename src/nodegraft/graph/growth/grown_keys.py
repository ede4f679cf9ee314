"""Keys of a graph that has grown: new ones are looked up beside the old ones."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import Key, KeyArray, NodeKeys, hash_order, key_array

FEWEST_KEYS, LARGEST_SHARE = 1024, 16
"""Keys lie beside the old ones while they are fewer than this, or than this part of them."""


class GrownKeys(NodeKeys):
    """The keys there were, and more behind them; neither list is copied.

    Args:
        base: The first keys.
        added: The others.
    """

    def __init__(self, base: NodeKeys, added: NodeKeys) -> None:
        self.base = base
        self.added = added

    @property
    def origin(self) -> str:  # type: ignore[override]
        """The file that the first keys are mapped from; empty for keys in memory."""
        return self.base.origin

    def __len__(self) -> int:
        return len(self.base) + len(self.added)

    @property
    def is_text(self) -> bool:
        """Whether keys are text rather than integers."""
        return self.base.is_text

    @cached_property
    def _values(self) -> KeyArray:  # type: ignore[override]
        return np.concatenate((self.base.values(), self.added.values()))

    def find(self, keys: Sequence[Key] | KeyArray) -> NDArray[np.int64]:
        """Return row numbers of keys, -1 for unknown keys."""
        rows, later = self.base.find(keys), self.added.find(keys)
        return np.where(later >= 0, later + len(self.base), rows)

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of rows as an array."""
        asked = np.asarray(rows, dtype=np.int64)
        later = asked >= len(self.base)
        if not later.any():
            return self.base.array_at(asked)
        keys = np.empty(asked.size, dtype=self.base.array_at([]).dtype)
        keys[~later] = self.base.array_at(asked[~later])
        keys[later] = self.added.array_at(asked[later] - len(self.base))
        return keys

    def smallest_hashes(self, count: int) -> IntArray:
        """Return the rows whose keys have the smallest hashes, in the order of hashes."""
        later = self.added.smallest_hashes(count) + len(self.base)
        rows = np.concatenate((self.base.smallest_hashes(count), later))
        return rows[hash_order(self.array_at(rows))[:count]]


def with_keys(keys: NodeKeys, more: Sequence[Key]) -> NodeKeys:
    """Keys and new ones after them; a key that exists already is refused.

    >>> with_keys(NodeKeys(["a", "b"]), ["c"]).at([2])
    ['c']

    Args:
        keys: The old keys.
        more: The new keys, of the same type as the old ones.
    """
    new = key_array(more)
    if not len(keys):
        return NodeKeys(new)
    if new.size and (new.dtype == object) != keys.is_text:
        raise DataError("New node keys must be of the same type as the old ones.")
    again = new[keys.find(new) >= 0]
    if again.size:
        shown = ", ".join(repr(key) for key in again[:5].tolist())
        raise DataError(f"{again.size} node keys occur more than once: {shown}.")
    base, beside = keys, new
    if isinstance(keys, GrownKeys):
        base, beside = keys.base, np.concatenate((keys.added.values(), new))
    if not beside.size:
        return base
    if beside.size > max(FEWEST_KEYS, len(base) // LARGEST_SHARE):
        return NodeKeys(np.concatenate((base.values(), beside)))
    return GrownKeys(base, NodeKeys(beside))
