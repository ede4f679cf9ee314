"""The keys of a graph on disk: no dictionary, and nothing is read before somebody asks."""

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.disk.packed_texts import PackedTexts
from nodegraft.graph.edges.bounds import check_numbers
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import Key, KeyArray, NodeKeys, integer_keys, key_hashes

Stored = PackedTexts | NDArray[np.int64]
"""Keys as they lie on the disk: texts or integers."""


class MappedKeys(NodeKeys):
    """Keys in row order, and an index: their hashes in ascending order with the row of each.

    A key is looked for among the hashes and compared with the keys themselves: two keys may have
    the same hash.

    Args:
        stored: The keys, in row order.
        hashes: What :func:`index_hashes` makes of them, ascending.
        rows: The row of each hash; of equal hashes the smaller row comes first.
        order: The rows in the order of :func:`~nodegraft.graph.keys.hash_order`.
        origin: The files that these are mapped from; rows that are read are checked.
    """

    def __init__(
        self,
        stored: Stored,
        hashes: NDArray[np.uint64],
        rows: IntArray,
        order: IntArray,
        origin: str = "",
    ) -> None:
        self.origin = origin
        self._stored, self._hashes, self._rows, self._order = stored, hashes, rows, order

    def __len__(self) -> int:
        return len(self._stored)

    @property
    def is_text(self) -> bool:
        """Whether keys are text rather than integers."""
        return isinstance(self._stored, PackedTexts)

    @cached_property
    def _values(self) -> KeyArray:  # type: ignore[override]
        # Python objects where keys are text: for who needs all of them at once.
        return self.array_at(np.arange(len(self)))

    def find(self, keys: Sequence[Key] | KeyArray) -> NDArray[np.int64]:
        """Return row numbers of keys, -1 for unknown keys."""
        if self.is_text:
            is_text = np.fromiter((isinstance(key, str) for key in keys), bool, len(keys))
            found = np.full(len(keys), -1, dtype=np.int64)
            texts = PackedTexts.of(str(key) for key in keys if isinstance(key, str))
            found[is_text] = self.find_stored(texts)
            return found
        integers, whole = integer_keys(keys)
        return np.where(whole, self.find_stored(integers), -1)

    def find_stored(self, keys: Stored) -> NDArray[np.int64]:
        """Return the rows of keys that are packed already."""

        def same(places: IntArray, rows: IntArray) -> NDArray[np.bool_]:
            return same_keys(self._stored, rows, keys, places)

        return self._located(index_hashes(keys), same)

    def _located(
        self,
        hashes: NDArray[np.uint64],
        same: Callable[[IntArray, IntArray], NDArray[np.bool_]],
    ) -> NDArray[np.int64]:
        found = np.full(hashes.size, -1, dtype=np.int64)
        places, left = np.searchsorted(self._hashes, hashes), np.arange(hashes.size)
        while left.size:
            left = left[places[left] < self._hashes.size]
            left = left[self._hashes[places[left]] == hashes[left]]
            rows = self._rows[places[left]]
            if self.origin:
                check_numbers(rows, len(self), self.origin, "the index of keys")
            hit = same(left, rows)
            found[left[hit]] = rows[hit]
            # Another key has the same hash: the one behind it may be meant.
            left = left[~hit]
            places[left] += 1
        return found

    def array_at(self, rows: IntArray | Sequence[int]) -> KeyArray:
        """Return the keys of rows as an array."""
        places = np.asarray(rows, dtype=np.int64)
        if not isinstance(self._stored, PackedTexts):
            return self._stored[places]
        texts = np.empty(places.size, dtype=object)
        texts[:] = self._stored.at(places)
        return texts

    def smallest_hashes(self, count: int) -> IntArray:
        """Return the rows whose keys have the smallest hashes, in the order of hashes."""
        rows = self._order[:count]
        if self.origin:
            check_numbers(rows, len(self), self.origin, "the order of keys")
        return rows


def index_hashes(keys: Stored) -> NDArray[np.uint64]:
    """64 bits for each key, made without a loop."""
    return keys.hashes() if isinstance(keys, PackedTexts) else key_hashes(keys)


def same_keys(ours: Stored, rows: IntArray, theirs: Stored, places: IntArray) -> NDArray[np.bool_]:
    """Return whether keys are equal, pair by pair.

    Args:
        theirs: Other keys, of the same type.
    """
    if isinstance(ours, PackedTexts) and isinstance(theirs, PackedTexts):
        return ours.same(rows, theirs, places)
    equal: NDArray[np.bool_] = np.equal(ours[rows], theirs[places])  # type: ignore[index]
    return equal
