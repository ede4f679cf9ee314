"""Rows in the order of the hashes of their keys: the first ones are a fair sample."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import KeyArray, key_hashes

FOLLOWED = 65_536
"""So many first rows are followed as a graph grows; whoever asks for more has all sorted again."""


@dataclass(frozen=True, eq=False)
class HashOrder:
    """The rows with the smallest hashes."""

    rows: IntArray
    """In the order of hashes; of equal ones the smaller row first."""

    hashes: NDArray[np.uint64]
    """Those of their keys, of the first :data:`FOLLOWED` at least."""

    is_complete: bool = True
    """Whether these are all rows."""

    @classmethod
    def of(cls, rows: IntArray, keys: KeyArray) -> "HashOrder":
        """Of some rows.

        Args:
            rows: Row numbers, ascending.
            keys: Their keys.
        """
        hashes = key_hashes(keys)
        order = np.argsort(hashes, kind="stable")
        return cls(rows[order], hashes[order])

    def grown(self, rows: IntArray, keys: KeyArray) -> "HashOrder":
        """With more rows; of a long order the first part alone.

        Args:
            rows: Row numbers behind all others, ascending.
            keys: Their keys.
        """
        more = HashOrder.of(rows, keys)
        kept = slice(FOLLOWED)
        first, hashes = self.rows[kept], self.hashes[kept]
        is_complete = self.is_complete and first.size == self.rows.size
        if not is_complete:
            # Those behind the last one that is known may not be the next.
            fits = more.hashes < hashes[-1]
            more = HashOrder(more.rows[fits], more.hashes[fits])
        places = np.searchsorted(hashes, more.hashes, side="right")
        return HashOrder(
            np.insert(first, places, more.rows),
            np.insert(hashes, places, more.hashes),
            is_complete,
        )

    def reaches(self, count: int) -> bool:
        """Whether it holds the first so many rows.

        Args:
            count: How many.
        """
        return self.is_complete or count <= self.rows.size
