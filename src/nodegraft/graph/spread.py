"""Rows of X, SX, S²X of length 1, known by their products: with words, most are never formed."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.algebra.matrix import (
    IntArray,
    Matrix,
    is_sparse,
    row_norms,
    weigh_columns,
)
from nodegraft.graph.view import GraphView

Floats = NDArray[np.float64]

BLOCK_ROWS = 4096


class SpreadFeatures:
    r"""The rows :math:`z_i^h` of :math:`S^h X`, columns weighted, divided by their length.

    A row of :math:`S^2 X` may hold thousands of words; what is asked of it is mostly its product
    with a vector for each class, and :math:`S(S(Xv))` is the same number. Only lengths need the
    rows themselves: once for each node.

    Args:
        view: What may be seen of the graph.
        hops: The largest power of :math:`S`.
        columns: The weight of each column of :math:`X`.
    """

    def __init__(self, view: GraphView, hops: int, columns: NDArray[np.float32]) -> None:
        self.view = view
        self.hops = hops
        self.columns = columns
        self._lengths = np.full((hops + 1, view.num_nodes), np.nan)

    def rows(self, rows: IntArray) -> "SpreadRows":
        """Of some nodes.

        Args:
            rows: Row numbers, each once and ascending.
        """
        return SpreadRows(self, rows)

    def lengths(self, rows: IntArray) -> Floats:
        """How long each row was, hops x rows.

        Args:
            rows: Row numbers, ascending.
        """
        places = self.view.positions(rows)
        unknown = np.flatnonzero(np.isnan(self._lengths[0, places]))
        for start in range(0, unknown.size, BLOCK_ROWS):
            some = unknown[start : start + BLOCK_ROWS]
            layers = self.view.propagated(rows[some], self.hops)
            norms = [row_norms(weigh_columns(layer, self.columns)) for layer in layers]
            # The first is what tells that a node is known: it is put in place last.
            for hop in range(self.hops, -1, -1):
                self._lengths[hop, places[some]] = norms[hop]
        return self._lengths[:, places]


class SpreadRows:
    """Some nodes' rows, for products.

    Args:
        features: Of all nodes.
        rows: Row numbers, each once and ascending.
    """

    def __init__(self, features: SpreadFeatures, rows: IntArray) -> None:
        self._features = features
        self._rows = rows
        lengths = features.lengths(rows)
        self.present = lengths > 0
        """Hops x nodes: whether the row has anything in it."""
        self._factors = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=self.present)

    @cached_property
    def _layers(self) -> list[Matrix] | None:
        """The rows themselves where they are dense, and no wider after a hop than before."""
        view = self._features.view
        if is_sparse(view.features(self._rows[:0])):
            return None
        return [np.asarray(one) for one in view.propagated(self._rows, self._features.hops)]

    @cached_property
    def _steps(self) -> tuple[list["csr_array[Any]"], list["csr_array[Any]"]]:
        """Slices of S from the outside in, and the features that each of them starts from."""
        near = self._features.view.neighbourhood(self._rows, self._features.hops)
        slices = [csr_array(hop.matrix, dtype=np.float64) for hop in near.hops]
        outer = csr_array(near.features.matrix, dtype=np.float64)
        features = [outer]
        for ring, smaller in zip(near.rings, near.rings[1:], strict=False):
            features.append(csr_array(features[-1][np.searchsorted(ring, smaller)]))
        return slices, features

    def times(self, hop: int, directions: Floats) -> Floats:
        """Products of the rows of one hop, nodes x directions.

        Args:
            hop: Which power of S.
            directions: One row for each direction, as wide as the features.
        """
        weighed = (directions * self._features.columns).T
        if self._layers is not None:
            product = np.asarray(self._layers[hop], dtype=np.float64) @ weighed
        else:
            slices, features = self._steps
            start = self._features.hops - hop
            product = features[start] @ np.ascontiguousarray(weighed)
            for one in slices[start:]:
                product = one @ product
        return np.asarray(product * self._factors[hop][:, None])

    def sums(self, hop: int, shares: Floats) -> Floats:
        """Weighted sums of the rows of one hop, as wide as the features.

        Args:
            hop: Which power of S.
            shares: Nodes x sums: how much of each row goes into each sum.
        """
        product = shares * self._factors[hop][:, None]
        if self._layers is not None:
            found = np.asarray(self._layers[hop], dtype=np.float64).T @ product
        else:
            slices, features = self._steps
            start = self._features.hops - hop
            for one in reversed(slices[start:]):
                product = one.T @ product
            found = features[start].T @ product
        return np.asarray(found.T * self._features.columns)
