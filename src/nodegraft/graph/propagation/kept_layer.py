"""Rows of SX, S²X … that were worked out, and those that must be, again after a graph has grown."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray, Matrix, index_type
from nodegraft.graph.growth.stacked import StackedRows, Stored, rows_to_read

STALE, UNMADE = -1, -2
"""Instead of a place: the row was made, and is another now; it was never made."""

MOST_ROWS = 2
"""Rows that were replaced are dropped once so many are held for each that is in use."""


class KeptLayer:
    """A layer whose rows are made when somebody asks for them, and kept.

    Args:
        rows: What was worked out.
        places: Where in it each node's row is, or :data:`STALE`, or :data:`UNMADE`.
        most: No more rows are kept than so many; None for all.
    """

    def __init__(self, rows: Stored, places: IntArray, most: int | None = None) -> None:
        self._rows = rows if isinstance(rows, StackedRows) else StackedRows((rows,))
        self._places = places
        self._most = most

    @classmethod
    def of(cls, rows: Stored) -> "KeptLayer":
        """A whole layer, as long as nothing has changed.

        Args:
            rows: One for each node.
        """
        return cls(rows, np.arange(rows.shape[0]))

    @classmethod
    def empty(cls, nodes: int, columns: int, most: int) -> "KeptLayer":
        """A layer of dense rows none of which is made.

        Args:
            nodes: How many rows it has.
            columns: How wide they are.
            most: How many of them are kept.
        """
        return cls(
            np.zeros((0, columns), dtype=np.float32),
            np.full(nodes, UNMADE, dtype=index_type(nodes)),
            most,
        )

    def num_missing(self, nodes: IntArray) -> int:
        """How many rows must be made.

        Args:
            nodes: Node numbers, each once.
        """
        return int(np.count_nonzero(self._places[nodes] < 0))

    @property
    def stale(self) -> IntArray:
        """The nodes whose rows must be made anew."""
        return np.flatnonzero(self._places == STALE)

    def grown(self, changed: NDArray[np.bool_]) -> "KeptLayer":
        """The layer of a graph that has grown.

        Args:
            changed: Of every node it has now, whether its row is another.
        """
        new = np.full(changed.size - self._places.size, STALE, dtype=self._places.dtype)
        places = np.concatenate((self._places, new))
        others = np.flatnonzero(changed)
        places[others[places[others] != UNMADE]] = STALE
        if self._rows.shape[0] <= MOST_ROWS * np.count_nonzero(places >= 0):
            return KeptLayer(self._rows, places, self._most)
        held = np.flatnonzero(places >= 0)
        rows = self._rows.take(places[held])
        places[held] = np.arange(held.size)
        return KeptLayer(rows, places, self._most)

    def take(self, nodes: IntArray, make: Callable[[IntArray], Matrix]) -> Matrix:
        """The rows of some nodes.

        Args:
            nodes: Node numbers, each once and ascending.
            make: Makes rows of such nodes.
        """
        missing = nodes[self._places[nodes] < 0]
        if missing.size:
            first = self._rows.shape[0]
            last = first + missing.size
            if self._most is not None and last > self._most:
                return make(nodes)
            self._rows = self._rows.with_rows(make(missing))
            self._places[missing] = np.arange(first, last)
        return rows_to_read(self._rows, self._places[nodes])
