"""Rows of SX, S²X … that were worked out before a graph grew, and those that must be again."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.matrix import IntArray, Matrix
from nodegraft.graph.algebra.stacked import StackedRows, Stored, some_rows

STALE = -1

MOST_ROWS = 2
"""Rows that were replaced are dropped once so many are held for each node."""


class KeptLayer:
    """A layer of a graph that has grown; stale rows are made anew when somebody asks for them.

    Args:
        rows: What was worked out.
        places: Where in it each node's row is, or :data:`STALE`.
    """

    def __init__(self, rows: Stored, places: NDArray[np.int64]) -> None:
        self._rows = rows if isinstance(rows, StackedRows) else StackedRows((rows,))
        self._places = places

    @classmethod
    def of(cls, rows: Stored) -> "KeptLayer":
        """A whole layer, as long as nothing has changed.

        Args:
            rows: One for each node.
        """
        return cls(rows, np.arange(rows.shape[0]))

    @property
    def stale(self) -> IntArray:
        """The nodes whose rows must be made anew."""
        return np.flatnonzero(self._places == STALE)

    def grown(self, changed: NDArray[np.bool_]) -> "KeptLayer":
        """The layer of a graph that has grown.

        Args:
            changed: Of every node it has now, whether its row is another.
        """
        places = np.full(changed.size, STALE)
        places[: self._places.size] = self._places
        places[changed] = STALE
        if self._rows.shape[0] <= MOST_ROWS * changed.size:
            return KeptLayer(self._rows, places)
        held = np.flatnonzero(places != STALE)
        rows = self._rows.take(places[held])
        places[held] = np.arange(held.size)
        return KeptLayer(rows, places)

    def take(self, nodes: IntArray, make: Callable[[IntArray], Matrix]) -> Matrix:
        """The rows of some nodes.

        Args:
            nodes: Node numbers.
            make: Makes rows of nodes, each of which comes once and ascending.
        """
        stale = np.unique(nodes[self._places[nodes] == STALE])
        if stale.size:
            made = make(stale)
            first = self._rows.shape[0]
            self._rows = self._rows.with_rows(made)
            self._places[stale] = np.arange(first, first + stale.size)
        return some_rows(self._rows, self._places[nodes])
