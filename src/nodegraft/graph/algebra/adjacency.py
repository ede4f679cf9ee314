"""Who is joined to whom: undirected, without self loops or repeated edges, in CSR."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, eye_array

from nodegraft.base.errors import DataError
from nodegraft.graph.algebra.matrix import IntArray, index_type


@dataclass(frozen=True)
class Adjacency:
    """Row ``i`` joins ``indices[indptr[i]:indptr[i + 1]]``, sorted.

    Both arrays are int32 while the number of entries fits, int64 beyond.
    """

    indptr: IntArray
    """Where the neighbours of each node begin; one more than there are nodes."""

    indices: IntArray
    """The neighbours of all nodes, one node after the other."""

    counted: IntArray | None = None
    """The degrees that normalisation counts, where they are not those of these edges."""

    @classmethod
    def from_edges(cls, source: IntArray, target: IntArray, num_nodes: int) -> "Adjacency":
        """From edges given in one direction or both, in any order.

        >>> triangle = Adjacency.from_edges(np.array([0, 1, 2, 2]), np.array([1, 2, 0, 2]), 3)
        >>> triangle.indptr.tolist(), triangle.indices.tolist()
        ([0, 2, 4, 6], [1, 2, 0, 2, 0, 1])

        Args:
            source: One end of each edge, as node numbers.
            target: The other end.
            num_nodes: How many nodes there are, isolated ones included.
        """
        kept = source != target
        source, target = source[kept], target[kept]
        rows = np.concatenate((source, target))
        columns = np.concatenate((target, source))
        entries = coo_array((np.ones(rows.size, dtype=bool), (rows, columns)), (num_nodes,) * 2)
        matrix = csr_array(entries)
        matrix.sort_indices()
        kind = index_type(max(num_nodes, matrix.nnz))
        return cls(matrix.indptr.astype(kind, copy=False), matrix.indices.astype(kind, copy=False))

    def check(self) -> None:
        """Refuse arrays that are no adjacency: kernels would read beyond them."""
        ends, joined = self.indptr, self.indices
        fits = ends.ndim == joined.ndim == 1 and ends.size > 0 and ends.dtype == joined.dtype
        if not (fits and ends[0] == 0 and ends[-1] == joined.size and (np.diff(ends) >= 0).all()):
            raise DataError("The rows of the adjacency do not fit its entries.")
        if joined.size and not 0 <= joined.min() <= joined.max() < self.num_nodes:
            raise DataError("The adjacency names nodes that do not exist.")

    @property
    def num_nodes(self) -> int:
        """How many nodes, isolated ones included."""
        return self.indptr.size - 1

    @property
    def num_edges(self) -> int:
        """How many undirected edges."""
        return self.indices.size // 2

    def degrees(self, nodes: IntArray | None = None) -> IntArray:
        """Number of neighbours.

        Args:
            nodes: Of these nodes; None for all.
        """
        if nodes is None:
            return np.diff(self.indptr)
        return self.indptr[nodes + 1] - self.indptr[nodes]

    def neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Counts per node and the neighbours one node after the other; cost: their number.

        Args:
            nodes: Node numbers.
        """
        counts = self.degrees(nodes).astype(np.int64)
        ends = np.cumsum(counts)
        offsets = np.repeat(self.indptr[nodes] - (ends - counts), counts)
        return counts, self.indices[offsets + np.arange(offsets.size)]

    def induced(self, nodes: IntArray) -> "Adjacency":
        """The part between some nodes, renumbered 0, 1, 2 …

        Args:
            nodes: Node numbers, ascending.
        """
        counts, neighbours = self.neighbours(nodes)
        position = np.full(self.num_nodes, -1, dtype=self.indices.dtype)
        position[nodes] = np.arange(nodes.size, dtype=self.indices.dtype)
        columns = position[neighbours]
        inside = columns >= 0
        owner = np.repeat(np.arange(nodes.size), counts)[inside]
        indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=nodes.size))))
        counted = None if self.counted is None else self.counted[nodes]
        return Adjacency(indptr.astype(self.indptr.dtype), columns[inside], counted)

    def counting_all(self) -> "Adjacency":
        """The same edges; parts of it are normalised by the degrees that nodes have here."""
        return Adjacency(self.indptr, self.indices, self.degrees())

    def counted_degrees(self, nodes: IntArray | None = None) -> IntArray:
        """The degrees that normalisation counts.

        Args:
            nodes: Numbers of nodes; None for all.
        """
        if self.counted is None:
            return self.degrees(nodes)
        return self.counted if nodes is None else self.counted[nodes]

    def edges(self) -> tuple[IntArray, IntArray]:
        """Every undirected edge once, smaller end first."""
        source = np.repeat(np.arange(self.num_nodes), self.degrees())
        once = source < self.indices
        return source[once], self.indices[once]

    @cached_property
    def normalised(self) -> "csr_array[Any]":
        r"""The whole of :math:`S = D^{-1/2} (A + I) D^{-1/2}`, degrees counted in ``A + I``."""
        ones = np.ones(self.indices.size, dtype=np.float32)
        matrix = csr_array((ones, self.indices, self.indptr), shape=(self.num_nodes,) * 2)
        looped = csr_array(matrix + eye_array(self.num_nodes, dtype=np.float32, format="csr"))
        scale = _inverse_roots(self.counted_degrees())
        owner = np.repeat(np.arange(self.num_nodes), np.diff(looped.indptr))
        looped.data = scale[owner] * scale[looped.indices]
        return looped

    def hop(self, targets: IntArray) -> tuple["csr_array[Any]", IntArray]:
        """The rows of ``S`` for sorted targets, and the nodes its columns stand for.

        Only the targets and their neighbours are touched. Columns are in node order, so that a
        row sums in the same order whichever other rows it is asked with.

        Args:
            targets: Node numbers, each once and ascending.
        """
        counts, neighbours = self.neighbours(targets)
        order = np.arange(targets.size)
        owner = np.repeat(order, counts)
        # Each row makes room for its self loop where the order of columns wants it.
        behind = neighbours > targets[owner]
        indptr = np.concatenate(([0], np.cumsum(counts + 1)))
        loops = indptr[1:] - 1 - np.bincount(owner[behind], minlength=targets.size)
        ends = np.empty(indptr[-1], dtype=self.indices.dtype)
        ends[np.arange(neighbours.size) + owner + behind] = neighbours
        ends[loops] = targets
        sources, columns = self._renumbered(ends)
        roots = _inverse_roots(self.counted_degrees(sources))
        values = np.repeat(roots[columns[loops]], counts + 1) * roots[columns]
        kind = index_type(max(ends.size, sources.size))
        places = columns.astype(kind, copy=False), indptr.astype(kind)
        return csr_array((values, *places), shape=(targets.size, sources.size)), sources

    def _renumbered(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """The nodes met, ascending, and for each given one its place among them."""
        if nodes.size < self.num_nodes // 8:
            return np.unique(nodes, return_inverse=True)
        met = np.zeros(self.num_nodes, dtype=bool)
        met[nodes] = True
        sources = np.flatnonzero(met).astype(nodes.dtype)
        place = np.empty(self.num_nodes, dtype=nodes.dtype)
        place[sources] = np.arange(sources.size)
        return sources, place[nodes]


def _inverse_roots(degrees: IntArray) -> NDArray[np.float32]:
    roots: NDArray[np.float64] = 1.0 / np.sqrt(degrees + 1.0)
    return roots.astype(np.float32)
