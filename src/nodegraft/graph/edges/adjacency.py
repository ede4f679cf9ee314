"""Adjacency: undirected edges without self loops or repetitions, in CSR."""

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
    """Row ``i`` joins ``indices[indptr[i]:indptr[i + 1]]``, sorted; every edge is in both rows.

    Both arrays are int32 while the number of entries fits, int64 beyond.
    """

    indptr: IntArray
    """Where the neighbours of each node begin; one more than there are nodes."""

    indices: IntArray
    """The neighbours of all nodes, one node after the other."""

    weights: Weights | None = None
    """Weight of each entry, equal in both rows of an edge; None if all weights are 1."""

    directions: Directions | None = None
    """Which way each edge leads, seen from the entry's row; None where there is no way."""

    counted: FloatArray | IntArray | None = None
    """The degrees that normalisation counts, where they are not those of these edges."""

    origin: str = ""
    """The file that the arrays are mapped from: its numbers are checked whenever they are read.
    Empty for arrays in memory."""

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
        """From edges given in one direction or both, in any order.

        Of an edge that is given several times the largest weight counts.

        >>> triangle = Adjacency.from_edges(np.array([0, 1, 2, 2]), np.array([1, 2, 0, 2]), 3)
        >>> triangle.indptr.tolist(), triangle.indices.tolist()
        ([0, 2, 4, 6], [1, 2, 0, 2, 0, 1])

        Args:
            weights: How much each edge counts; None for 1.
            directions: Which way each edge leads, seen from its source; None for no way.
        """
        entries = both_ways(source, target, weights, directions)
        return cls(*compressed(entries, num_nodes))

    def check(self) -> None:
        """Refuse arrays that are no adjacency: kernels would read beyond them."""
        ends, joined = self.indptr, self.indices
        fits = ends.ndim == joined.ndim == 1 and ends.size > 0 and ends.dtype == joined.dtype
        if not (fits and ends[0] == 0 and ends[-1] == joined.size and (np.diff(ends) >= 0).all()):
            raise DataError("The rows of the adjacency do not fit its entries.")
        if joined.size and not 0 <= joined.min() <= joined.max() < self.num_nodes:
            raise DataError("The adjacency names nodes that do not exist.")
        for part in (self.weights, self.directions):
            if part is not None and part.shape != joined.shape:
                raise DataError("Every entry of the adjacency needs its weight and direction.")
        if self.weights is not None and not narrowed(self.weights)[1].all():
            raise DataError("The weights of the adjacency must be positive and finite.")

    def check_mapped(self) -> None:
        """Check all offsets and node numbers of arrays that are mapped from a file."""
        self.check_offsets()
        self._check_nodes(self.indices)

    def check_offsets(self) -> None:
        """Check all offsets of arrays that are mapped from a file."""
        if self.origin:
            ends = self.indptr
            check_offsets(ends[:-1], ends[1:], self.indices.size, self.origin)

    def _check_nodes(self, nodes: IntArray) -> None:
        if self.origin:
            check_numbers(nodes, self.num_nodes, self.origin)

    @property
    def num_nodes(self) -> int:
        """How many nodes, isolated ones included."""
        return self.indptr.size - 1

    @property
    def num_edges(self) -> int:
        """How many undirected edges."""
        return self.indices.size // 2

    @property
    def is_weighted(self) -> bool:
        """Whether edges have weights."""
        return self.weights is not None

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directions is not None

    def degrees(self, nodes: IntArray | None = None) -> IntArray:
        """Number of neighbours.

        Args:
            nodes: Of these nodes; None for all.
        """
        if nodes is None:
            self.check_offsets()
            return np.diff(self.indptr)
        starts, stops = np.take(self.indptr, nodes), np.take(self.indptr, nodes + 1)
        if self.origin:
            check_offsets(starts, stops, self.indices.size, self.origin)
        return stops - starts

    def weighted_degrees(self, nodes: IntArray | None = None) -> FloatArray | IntArray:
        """Sums of weights: the degrees that normalisation counts.

        Args:
            nodes: Of these nodes; None for all.
        """
        if self.counted is None and self.weights is None:
            return self.degrees(nodes)
        counted = self._sums if self.counted is None else self.counted
        return counted if nodes is None else counted[nodes]

    @cached_property
    def _sums(self) -> FloatArray:
        # All nodes at once: else a hub's edges were read again for each query that meets the hub.
        self.check_offsets()
        sums, weights = np.zeros(self.num_nodes), cast(Weights, self.weights)
        for start in range(0, self.num_nodes, NODES_AT_ONCE):
            ends = self.indptr[start : start + NODES_AT_ONCE + 1]
            owner = np.repeat(np.arange(ends.size - 1), np.diff(ends))
            some = weights[ends[0] : ends[-1]]
            sums[start : start + NODES_AT_ONCE] = np.bincount(owner, some, ends.size - 1)
        return sums

    def neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Counts per node and the neighbours one node after the other; cost: their number."""
        counts, places = self._places(nodes)
        found = self.indices[places]
        self._check_nodes(found)
        return counts, found

    def weighted_neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray, Weights | None]:
        """Return counts, neighbours and their weights; None for weights that are all 1."""
        counts, places = self._places(nodes)
        weights = None if self.weights is None else np.take(self.weights, places)
        found = np.take(self.indices, places)
        self._check_nodes(found)
        return counts, found, weights

    def entries_of(self, nodes: IntArray) -> Entries:
        """Return all entries of some nodes; rows are their places among these."""
        counts, places = self._places(nodes)
        found = self.indices[places]
        self._check_nodes(found)
        return Entries(
            np.repeat(np.arange(nodes.size), counts),
            found,
            None if self.weights is None else self.weights[places],
            None if self.directions is None else self.directions[places],
        )

    def _places(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return how many entries each node has, and where they are."""
        counts = self.degrees(nodes).astype(np.int64)
        ends = np.cumsum(counts)
        offsets = np.repeat(self.indptr[nodes] - (ends - counts), counts)
        return counts, offsets + np.arange(offsets.size)

    def induced(self, nodes: IntArray) -> "Adjacency":
        """Return the part between some nodes, renumbered 0, 1, 2 …

        Args:
            nodes: Node numbers, ascending.
        """
        counts, places = self._places(nodes)
        position = np.full(self.num_nodes, -1, dtype=self.indices.dtype)
        position[nodes] = np.arange(nodes.size, dtype=self.indices.dtype)
        found = self.indices[places]
        self._check_nodes(found)
        columns = position[found]
        inside = columns >= 0
        owner = np.repeat(np.arange(nodes.size), counts)[inside]
        indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=nodes.size))))
        chosen = places[inside]
        weights = None if self.weights is None else self.weights[chosen]
        directions = None if self.directions is None else self.directions[chosen]
        counted = None if self.counted is None else self.counted[nodes]
        ends = indptr.astype(self.indptr.dtype)
        return Adjacency(ends, columns[inside], weights, directions, counted)

    def counting_all(self) -> "Adjacency":
        """Return the same edges, whose parts are normalised by the degrees that nodes have here."""
        return replace(self, counted=self.weighted_degrees())

    def edges(self) -> tuple[IntArray, IntArray]:
        """Return every undirected edge once, smaller end first."""
        rows = self.entries().rows
        once = rows < self.indices
        return rows[once], self.indices[once]

    def entries(self) -> Entries:
        """Return all entries."""
        self.check_mapped()
        rows = np.repeat(np.arange(self.num_nodes), self.degrees())
        return Entries(rows, self.indices, self.weights, self.directions)

    def keeping(self, kept: NDArray[np.bool_]) -> "Adjacency":
        """Return the adjacency with some of the edges.

        Args:
            kept: Whether each of :meth:`edges` stays.
        """
        return self._rebuilt(np.arange(self.num_nodes), self.num_nodes, kept)

    def renumbered(self, place: IntArray, num_nodes: int) -> "Adjacency":
        """Return the same edges between nodes with other numbers.

        Args:
            place: The new number of each node; -1 for one that is removed with its edges.
        """
        source, target = self.edges()
        return self._rebuilt(place, num_nodes, (place[source] >= 0) & (place[target] >= 0))

    def widened(self, num_nodes: int) -> "Adjacency":
        """Return the same edges with more nodes at the end, which have none."""
        kind = index_type(max(num_nodes, self.indices.size))
        new = np.full(num_nodes - self.num_nodes, self.indices.size)
        ends: IntArray = np.concatenate((self.indptr, new)).astype(kind)
        return replace(self, indptr=ends, indices=self.indices.astype(kind, copy=False))

    def _rebuilt(self, place: IntArray, num_nodes: int, kept: NDArray[np.bool_]) -> "Adjacency":
        rows, columns, weights, directions = self.entries()
        chosen = np.flatnonzero(rows < columns)[kept]
        return Adjacency.from_edges(
            place[rows[chosen]],
            place[columns[chosen]],
            num_nodes,
            weights=None if weights is None else weights[chosen],
            directions=None if directions is None else directions[chosen],
        )

    def along(
        self, direction: Directions | np.uint8, nodes: IntArray | None = None
    ) -> "csr_array[Any]":
        """Return which nodes edges lead to (``OUT``) or come from (``IN``), as a matrix of 0 and 1.

        Args:
            nodes: The rows; None for all nodes.
        """
        asked = np.arange(self.num_nodes) if nodes is None else nodes
        owner, columns, _, directions = self.entries_of(asked)
        chosen = np.zeros(owner.size, dtype=bool)
        if directions is not None:
            chosen = (directions & direction) > 0
        ones = np.ones(int(chosen.sum()), dtype=np.float32)
        ends = np.concatenate(([0], np.cumsum(np.bincount(owner[chosen], minlength=asked.size))))
        return csr_array((ones, columns[chosen], ends), shape=(asked.size, self.num_nodes))

    @cached_property
    def normalised(self) -> "csr_array[Any]":
        r"""The whole of :math:`S = D^{-1/2} (A + I) D^{-1/2}`, degrees counted in ``A + I``."""
        self.check_offsets()
        return self.rows_between(0, self.num_nodes, self.inverse_roots())

    def hop(self, targets: IntArray) -> tuple["csr_array[Any]", IntArray]:
        """Return the rows of ``S`` for sorted targets, and the nodes its columns stand for.

        Only the targets and their neighbours are touched. Columns are in node order, so that a
        row sums in the same order whichever other rows it is asked with.

        Args:
            targets: Node numbers, each once and ascending.
        """
        counts, neighbours, weights = self.weighted_neighbours(targets)
        rows = with_loops(targets, counts, neighbours)
        sources, columns = self._renumbered(rows.columns)
        roots = self.inverse_roots(sources)
        values = normalised_values(rows, columns, roots, weights)
        kind = index_type(max(columns.size, sources.size))
        places = columns.astype(kind, copy=False), rows.indptr.astype(kind)
        return csr_array((values, *places), shape=(targets.size, sources.size)), sources

    def rows_between(self, start: int, stop: int, roots: NDArray[np.float32]) -> "csr_array[Any]":
        """Consecutive rows of ``S``, a column for every node; memory for their entries alone."""
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
        r""":math:`D^{-1/2}`, degrees counted in ``A + I``.

        Args:
            nodes: Of these nodes; None for all.
        """
        roots: NDArray[np.float64] = 1.0 / np.sqrt(self.weighted_degrees(nodes) + 1.0)
        return roots.astype(np.float32)

    def _renumbered(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the distinct nodes, ascending, and for each given one its place among them."""
        if nodes.size < self.num_nodes // 8:
            return np.unique(nodes, return_inverse=True)
        met = np.zeros(self.num_nodes, dtype=bool)
        met[nodes] = True
        sources = np.flatnonzero(met).astype(nodes.dtype)
        place = np.empty(self.num_nodes, dtype=nodes.dtype)
        place[sources] = np.arange(sources.size)
        return sources, place[nodes]
