"""Adjacency matrix in CSR format: undirected edges without self loops and duplicates."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.entries import (
    Directions,
    Entries,
    Weights,
    both_ways,
    compressed,
    narrowed,
    normalised_values,
    row_offsets,
    weights_of,
    with_loops,
)
from nodegraft.graph.edges.matrix import (
    FloatArray,
    IntArray,
    check_numbers,
    check_offsets,
    index_type,
)

NODES_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class Adjacency:
    """Symmetric adjacency matrix in CSR format.

    The neighbours of node ``i`` are ``indices[indptr[i]:indptr[i + 1]]``, sorted by number. Every
    edge has an entry in the rows of both its nodes. Both arrays are int32 if the number of entries
    fits, otherwise int64.
    """

    indptr: IntArray
    """Position of each node's first neighbour in ``indices``, then the number of entries."""

    indices: IntArray
    """Neighbours of node 0, then of node 1, and so on, as node numbers."""

    weights: Weights | None = None
    """Weight of each entry, the same in both rows of an edge; None if all weights are 1."""

    directions: Directions | None = None
    """Direction flags of each entry as seen from its row; None if edges have no direction."""

    counted: FloatArray | IntArray | None = None
    """Degrees to use for normalisation; None to use the degrees of these edges."""

    origin: str = ""
    """Name of the mapped file, whose numbers are checked when read; empty in memory."""

    @classmethod
    def from_edges(
        cls,
        source: IntArray,
        target: IntArray,
        num_nodes: int,
        *,
        weights: Weights | None = None,
        directions: Directions | None = None,
    ) -> "Adjacency":
        """Create an adjacency from edges in any order.

        An edge may be given in one or both directions. Duplicates get the largest of their weights;
        self loops are dropped.

        >>> triangle = Adjacency.from_edges(np.array([0, 1, 2, 2]), np.array([1, 2, 0, 2]), 3)
        >>> triangle.indptr.tolist(), triangle.indices.tolist()
        ([0, 2, 4, 6], [1, 2, 0, 2, 0, 1])

        Args:
            directions: Direction flags of each edge as seen from its source; None for undirected
                edges.
        """
        entries = both_ways(source, target, weights, directions)
        return cls(*compressed(entries, num_nodes))

    def check(self) -> None:
        """Raise DataError if the arrays do not form a valid adjacency.

        Kernels would read outside the arrays if offsets or node numbers were invalid.
        """
        ends, indices = self.indptr, self.indices
        fits = ends.ndim == indices.ndim == 1 and ends.size > 0 and ends.dtype == indices.dtype
        if not (fits and ends[0] == 0 and ends[-1] == indices.size and (np.diff(ends) >= 0).all()):
            raise DataError("The rows of the adjacency do not fit its entries.")
        if indices.size and not 0 <= indices.min() <= indices.max() < self.num_nodes:
            raise DataError("The adjacency names nodes that do not exist.")
        for part in (self.weights, self.directions):
            if part is not None and part.shape != indices.shape:
                raise DataError("Every entry of the adjacency needs its weight and direction.")
        if self.weights is not None and not narrowed(self.weights)[1].all():
            raise DataError("The weights of the adjacency must be positive and finite.")

    def check_mapped(self) -> None:
        """Raise an error if arrays from a file have offsets or node numbers out of range."""
        self.check_offsets()
        self._check_nodes(self.indices)

    def check_offsets(self) -> None:
        """Raise an error if arrays from a file have offsets out of range."""
        if self.origin:
            ends = self.indptr
            check_offsets(ends[:-1], ends[1:], self.indices.size, self.origin)

    def _check_nodes(self, nodes: IntArray) -> None:
        if self.origin:
            check_numbers(nodes, self.num_nodes, self.origin)

    @property
    def num_nodes(self) -> int:
        """Number of nodes, including isolated nodes."""
        return self.indptr.size - 1

    @property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        return self.indices.size // 2

    @property
    def is_weighted(self) -> bool:
        """Whether edges have weights other than 1."""
        return self.weights is not None

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directions is not None

    def degrees(self, nodes: IntArray | None = None) -> IntArray:
        """Return the number of neighbours of each node in `nodes`; of every node if it is None."""
        if nodes is None:
            self.check_offsets()
            return np.diff(self.indptr)
        starts, stops = np.take(self.indptr, nodes), np.take(self.indptr, nodes + 1)
        if self.origin:
            check_offsets(starts, stops, self.indices.size, self.origin)
        return stops - starts

    def weighted_degrees(self, nodes: IntArray | None = None) -> FloatArray | IntArray:
        """Return the sum of edge weights of each node in `nodes`; of every node if it is None."""
        if self.counted is None and self.weights is None:
            return self.degrees(nodes)
        counted = self._sums if self.counted is None else self.counted
        return counted if nodes is None else counted[nodes]

    @cached_property
    def _sums(self) -> FloatArray:
        # Compute the sums of all nodes once. Otherwise each query with a hub as neighbour would
        # read all edges of the hub.
        self.check_offsets()
        sums, weights = np.zeros(self.num_nodes), cast(Weights, self.weights)
        for start in range(0, self.num_nodes, NODES_AT_ONCE):
            ends = self.indptr[start : start + NODES_AT_ONCE + 1]
            owner = np.repeat(np.arange(ends.size - 1), np.diff(ends))
            some = weights[ends[0] : ends[-1]]
            sums[start : start + NODES_AT_ONCE] = np.bincount(owner, some, ends.size - 1)
        return sums

    def neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the number of neighbours of each given node, and the neighbours, node by node."""
        counts, neighbours, _ = self.weighted_neighbours(nodes)
        return counts, neighbours

    def weighted_neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray, Weights | None]:
        """Like :meth:`neighbours`, but also return the weight of the edge to each neighbour.

        Weights are None if all weights are 1.
        """
        counts, places = self._places(nodes)
        weights = None if self.weights is None else np.take(self.weights, places)
        neighbours = np.take(self.indices, places)
        self._check_nodes(neighbours)
        return counts, neighbours, weights

    def neighbours_at(
        self, nodes: IntArray, counts: IntArray, slots: IntArray
    ) -> tuple[IntArray, Weights | None]:
        """Return some neighbours of each given node, and the weights of the edges to them.

        Weights are None if all weights are 1.

        Args:
            nodes: Node numbers.
            counts: Number of neighbours to return for each node.
            slots: Positions in the nodes' lists of neighbours, node by node.
        """
        places = np.repeat(np.take(self.indptr, nodes).astype(np.int64), counts) + slots
        weights = None if self.weights is None else np.take(self.weights, places)
        neighbours = np.take(self.indices, places)
        self._check_nodes(neighbours)
        return neighbours, weights

    def entries_of(self, nodes: IntArray) -> Entries:
        """Return all entries of the given nodes.

        The row of an entry is the position of its node in ``nodes``.
        """
        counts, places = self._places(nodes)
        columns = self.indices[places]
        self._check_nodes(columns)
        return Entries(
            np.repeat(np.arange(nodes.size), counts),
            columns,
            None if self.weights is None else self.weights[places],
            None if self.directions is None else self.directions[places],
        )

    def _places(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the number of entries of each node, and their positions in ``indices``."""
        counts = self.degrees(nodes).astype(np.int64)
        ends = np.cumsum(counts)
        offsets = np.repeat(self.indptr[nodes] - (ends - counts), counts)
        return counts, offsets + np.arange(offsets.size)

    def induced(self, nodes: IntArray) -> "Adjacency":
        """Return the edges between the given nodes; these nodes are renumbered 0, 1, 2 …

        Args:
            nodes: Node numbers, ascending.
        """
        position = np.full(self.num_nodes, -1, dtype=self.indices.dtype)
        position[nodes] = np.arange(nodes.size, dtype=self.indices.dtype)
        entries = self.entries_of(nodes)
        columns = position[entries.columns]
        inside = entries._replace(columns=columns).select(columns >= 0)
        ends = row_offsets(inside.rows, nodes.size).astype(self.indptr.dtype)
        counted = None if self.counted is None else self.counted[nodes]
        return Adjacency(ends, inside.columns, inside.weights, inside.directions, counted)

    def counting_all(self) -> "Adjacency":
        """Return a copy whose subgraphs are normalised by the degrees of the whole graph."""
        return replace(self, counted=self.weighted_degrees())

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return each undirected edge once, as two arrays: its lower and its higher node number."""
        rows = self.entries().rows
        once = rows < self.indices
        return rows[once], self.indices[once]

    def entries(self) -> Entries:
        """Return all entries of the adjacency, row by row."""
        self.check_mapped()
        rows = np.repeat(np.arange(self.num_nodes), self.degrees())
        return Entries(rows, self.indices, self.weights, self.directions)

    def keeping(self, is_kept: NDArray[np.bool_]) -> "Adjacency":
        """Return an adjacency with only some of the edges.

        Args:
            is_kept: Boolean mask of the edges to keep, in the order of :meth:`edges`.
        """
        return self._rebuilt(np.arange(self.num_nodes), self.num_nodes, is_kept)

    def renumbered(self, place: IntArray, num_nodes: int) -> "Adjacency":
        """Return the same edges with other node numbers.

        Args:
            place: New number of each node; -1 to remove the node and its edges.
            num_nodes: Number of nodes of the new adjacency.
        """
        source, target = self.edges()
        return self._rebuilt(place, num_nodes, (place[source] >= 0) & (place[target] >= 0))

    def widened(self, num_nodes: int) -> "Adjacency":
        """Return an adjacency with isolated nodes appended, so that it has ``num_nodes`` nodes."""
        kind = index_type(max(num_nodes, self.indices.size))
        new = np.full(num_nodes - self.num_nodes, self.indices.size)
        ends: IntArray = np.concatenate((self.indptr, new)).astype(kind)
        return replace(self, indptr=ends, indices=self.indices.astype(kind, copy=False))

    def _rebuilt(self, place: IntArray, num_nodes: int, is_kept: NDArray[np.bool_]) -> "Adjacency":
        entries = self.entries()
        once = np.flatnonzero(entries.rows < entries.columns)
        source, target, weights, directions = entries.select(once[is_kept])
        return Adjacency.from_edges(
            place[source], place[target], num_nodes, weights=weights, directions=directions
        )

    def along(
        self,
        direction: np.uint8 | None,
        nodes: IntArray | None = None,
        *,
        weighted: bool = False,
    ) -> "csr_array[Any]":
        """Return a matrix with 1 for each edge in one direction, otherwise 0.

        Args:
            direction: ``OUT`` for edges that lead from the row to the column, ``IN`` for edges that
                lead from the column to the row; edges without a direction do neither. None for all
                edges.
            nodes: Node number of each row of the matrix; None for all nodes.
            weighted: Whether the matrix has the weight of each edge instead of 1.
        """
        rows = np.arange(self.num_nodes) if nodes is None else nodes
        entries = self.entries_of(rows)
        if direction is not None:
            flags = np.uint8(0) if entries.directions is None else entries.directions
            entries = entries.select(np.broadcast_to(flags & direction > 0, entries.rows.shape))
        values = weights_of(entries if weighted else entries._replace(weights=None))
        ends = row_offsets(entries.rows, rows.size)
        return csr_array((values, entries.columns, ends), shape=(rows.size, self.num_nodes))

    @cached_property
    def normalised(self) -> "csr_array[Any]":
        """Normalised adjacency :math:`S = D^{-1/2} (A + I) D^{-1/2}`, with the degrees of A + I."""
        self.check_offsets()
        return self.rows_between(0, self.num_nodes, self.inverse_roots())

    def hop(self, targets: IntArray) -> tuple["csr_array[Any]", IntArray]:
        """Return rows of ``S`` with their non-empty columns only, and the nodes of these columns.

        Only edges of the targets are read. Columns are in node order, so that in a product the
        order of summation does not depend on the other rows of the batch.

        Args:
            targets: Node numbers of the rows, unique and ascending.
        """
        return self.hop_to(targets, *self.weighted_neighbours(targets))

    def hop_to(
        self, targets: IntArray, counts: IntArray, neighbours: IntArray, weights: Weights | None
    ) -> tuple["csr_array[Any]", IntArray]:
        """Return rows of ``S`` as :meth:`hop` does, for some neighbours of the targets.

        Args:
            targets: Node numbers of the rows, unique and ascending.
            counts: Number of neighbours of each target.
            neighbours: Neighbours of all targets, node by node and ascending.
            weights: Weight of each neighbour; None if all are 1.
        """
        rows = with_loops(targets, counts, neighbours)
        sources, columns = self._renumbered(rows.columns)
        roots = self.inverse_roots(sources)
        values = normalised_values(rows, columns, roots, weights)
        kind = index_type(max(columns.size, sources.size))
        places = columns.astype(kind, copy=False), rows.indptr.astype(kind)
        return csr_array((values, *places), shape=(targets.size, sources.size)), sources

    def rows_between(self, start: int, stop: int, roots: NDArray[np.float32]) -> "csr_array[Any]":
        """Return consecutive rows of ``S``, with a column for every node.

        Args:
            roots: :math:`D^{-1/2}` of all nodes, from :meth:`inverse_roots`.
        """
        between = slice(int(self.indptr[start]), int(self.indptr[stop]))
        weights = None if self.weights is None else self.weights[between]
        nodes = np.arange(start, stop)
        counts, neighbours = self.degrees(nodes), self.indices[between]
        self._check_nodes(neighbours)
        rows = with_loops(nodes, counts, neighbours)
        values = normalised_values(rows, rows.columns, roots, weights)
        kind = index_type(max(rows.columns.size, self.num_nodes))
        places = rows.columns.astype(kind, copy=False), rows.indptr.astype(kind)
        return csr_array((values, *places), shape=(nodes.size, self.num_nodes))

    def inverse_roots(self, nodes: IntArray | None = None) -> NDArray[np.float32]:
        r"""Return the diagonal of :math:`D^{-1/2}`, with the degrees of ``A + I``, for `nodes`."""
        roots: NDArray[np.float64] = 1.0 / np.sqrt(self.weighted_degrees(nodes) + 1.0)
        return roots.astype(np.float32)

    def _renumbered(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the distinct numbers, ascending, and the position of each number among them."""
        if nodes.size < self.num_nodes // 8:
            return np.unique(nodes, return_inverse=True)
        is_end = np.zeros(self.num_nodes, dtype=bool)
        is_end[nodes] = True
        sources = np.flatnonzero(is_end).astype(nodes.dtype)
        place = np.empty(self.num_nodes, dtype=nodes.dtype)
        place[sources] = np.arange(sources.size)
        return sources, place[nodes]
