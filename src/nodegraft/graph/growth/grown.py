"""Adjacency after growth of a graph, which stores only the changed rows."""

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Directions, Entries, Weights, distinct
from nodegraft.graph.edges.matrix import FloatArray, IntArray, index_type
from nodegraft.graph.edges.relation import (
    merged,
    merged_entries,
    merged_with_weights,
    weighted_entries,
)

FEWEST_ENTRIES, LARGEST_SHARE = 4096, 16
"""Changed rows are stored separately if they have at most FEWEST_ENTRIES entries, or after a small
growth at most 1/LARGEST_SHARE of the entries before growth. Otherwise all rows are copied to one
adjacency.
"""

FEW_NODES, FEW_EDGES = 100, 50
"""A growth is small if at most 1/FEW_NODES (1 %) of all nodes are new and at most 1/FEW_EDGES (2 %)
of the sum of all edge weights is new. After a small growth, heat still diffuses on the edges from
before the growth.
"""


class GrownAdjacency(Adjacency):
    """Adjacency after growth of a graph: the old adjacency and all changed rows.

    A query reads only the rows that it needs. The CSR arrays of the whole adjacency are computed
    when one of them is first read.

    Args:
        base: Adjacency before growth.
        nodes: Nodes whose rows have changed, including all new nodes; ascending.
        rows: Changed rows after growth: row ``i`` is the row of ``nodes[i]``, columns are node
            numbers.
        num_nodes: Number of nodes of the graph after growth.
    """

    def __init__(self, base: Adjacency, nodes: IntArray, rows: Adjacency, num_nodes: int) -> None:
        is_apart = np.zeros(num_nodes, dtype=bool)
        is_apart[nodes] = True
        parts = {"base": base, "nodes": nodes, "apart": rows, "_is_apart": is_apart}
        # Write to vars, because the dataclass is frozen and this subclass replaces its fields by
        # properties.
        vars(self).update(parts)

    base: Adjacency
    nodes: IntArray
    apart: Adjacency
    _is_apart: NDArray[np.bool_]

    @cached_property
    def is_small_growth(self) -> bool:
        """Whether at most 1 % of the nodes and 2 % of the sum of edge weights are new."""
        old = self.nodes[self.nodes < self.base.num_nodes]
        before, now = self.base.weighted_degrees(old).sum(), self.apart.weighted_degrees().sum()
        new_nodes = self.num_nodes - self.base.num_nodes
        return bool(
            FEW_NODES * new_nodes <= self.num_nodes
            and FEW_EDGES * (now - before) <= self.base.weighted_degrees().sum()
        )

    @cached_property
    def whole(self) -> Adjacency:
        """Equal adjacency in which no rows are stored separately."""
        everyone = np.arange(self.num_nodes)
        ends = np.concatenate(([0], np.cumsum(self.degrees(everyone))))
        _, columns, weights, directions = self.entries_of(everyone)
        kind = index_type(max(self.num_nodes, columns.size))
        return Adjacency(ends.astype(kind), columns.astype(kind, copy=False), weights, directions)

    @property
    def indptr(self) -> IntArray:
        """CSR row offsets of the adjacency :attr:`whole`."""
        return self.whole.indptr

    @property
    def indices(self) -> IntArray:
        """Node numbers of all neighbours, as in the adjacency :attr:`whole`."""
        return self.whole.indices

    @property
    def weights(self) -> Weights | None:
        """Edge weights, as in the adjacency :attr:`whole`."""
        return self.whole.weights if self.is_weighted else None

    @property
    def directions(self) -> Directions | None:
        """Direction flags, as in the adjacency :attr:`whole`."""
        return self.whole.directions if self.is_directed else None

    @property
    def counted(self) -> None:
        """None, because normalisation uses the degrees of this adjacency itself."""
        return

    @property
    def num_nodes(self) -> int:
        """Number of nodes, including isolated nodes."""
        return self._is_apart.size

    @cached_property
    def num_edges(self) -> int:
        """Number of undirected edges."""
        before = self.nodes[self.nodes < self.base.num_nodes]
        more = self.apart.indices.size - int(self.base.degrees(before).sum())
        return self.base.num_edges + more // 2

    @property
    def is_weighted(self) -> bool:
        """Whether edges have weights."""
        return self.base.is_weighted

    @property
    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.base.is_directed

    def degrees(self, nodes: IntArray | None = None) -> IntArray:
        """Return the number of neighbours of each node in `nodes`; of every node if it is None."""
        return self._of_each(lambda part, some: part.degrees(some), nodes)

    def weighted_degrees(self, nodes: IntArray | None = None) -> FloatArray | IntArray:
        """Return the sum of edge weights of each node in `nodes`; of every node if it is None."""
        return self._of_each(lambda part, some: part.weighted_degrees(some), nodes)

    def _of_each(
        self, degrees: Callable[[Adjacency, IntArray], NDArray[Any]], nodes: IntArray | None
    ) -> NDArray[Any]:
        """Return a number for each node, from the rows that changed and from the others."""
        numbers = np.arange(self.num_nodes) if nodes is None else nodes
        is_apart = self._is_apart[numbers]
        theirs = degrees(self.base, numbers[~is_apart])
        if theirs.size == numbers.size:
            return theirs
        own = degrees(self.apart, self._places_apart(numbers[is_apart]))
        return _interleave(is_apart, theirs, own)

    def weighted_neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray, Weights | None]:
        """Like :meth:`neighbours`, but also return the weights of the edges.

        Weights are None if all are 1.
        """
        entries = self.entries_of(nodes)
        return self.degrees(nodes), entries.columns, entries.weights

    def neighbours_at(
        self, nodes: IntArray, counts: IntArray, slots: IntArray
    ) -> tuple[IntArray, Weights | None]:
        """Return the neighbours at some positions of each node's list, and the edge weights.

        Args:
            nodes: Node numbers.
            counts: Number of neighbours to return for each node.
            slots: Positions in the nodes' lists of neighbours, node by node.
        """
        is_apart = self._is_apart[nodes]
        slot_is_apart = np.repeat(is_apart, counts)
        neighbours, weights = self.base.neighbours_at(
            nodes[~is_apart], counts[~is_apart], slots[~slot_is_apart]
        )
        own, own_weights = self.apart.neighbours_at(
            self._places_apart(nodes[is_apart]), counts[is_apart], slots[slot_is_apart]
        )
        if weights is not None and own_weights is not None:
            weights = _interleave(slot_is_apart, weights, own_weights)
        return _interleave(slot_is_apart, neighbours, own), weights

    def entries_of(self, nodes: IntArray) -> Entries:
        """Return all entries of the given nodes.

        The row of an entry is the position of its node in ``nodes``.
        """
        is_apart = self._is_apart[nodes]
        theirs = self.base.entries_of(nodes[~is_apart])
        if not is_apart.any():
            return theirs
        own = self.apart.entries_of(self._places_apart(nodes[is_apart]))
        counts = self.degrees(nodes)
        entry_is_apart = np.repeat(is_apart, counts)
        parts = [
            None if others is None or mine is None else _interleave(entry_is_apart, others, mine)
            for others, mine in zip(theirs[1:], own[1:], strict=True)
        ]
        return Entries(np.repeat(np.arange(nodes.size), counts), *parts)  # type: ignore[arg-type]

    def counting_all(self) -> Adjacency:
        """Return a copy whose subgraphs are normalised by the degrees of the whole adjacency."""
        return self.whole.counting_all()

    def widened(self, num_nodes: int) -> Adjacency:
        """Return an adjacency with isolated nodes appended, up to `num_nodes` nodes."""
        return self.whole.widened(num_nodes)

    def _places_apart(self, nodes: IntArray) -> IntArray:
        return np.searchsorted(self.nodes, nodes)


def with_edges(before: Adjacency, new: Entries, num_nodes: int) -> GrownAdjacency | None:
    """Add edges and nodes to an adjacency.

    If a new edge exists already, it gets the larger of its two weights.

    Args:
        new: Entries of the new edges, one in each direction.

    Returns:
        The adjacency after growth; None if `new` has weights or directions but `before` does not,
        because then all rows change.
    """
    if (new.weights is not None and not before.is_weighted) or (
        new.directions is not None and not before.is_directed
    ):
        return None
    touched = np.unique(new.rows)
    existing = rows_of(before, touched[touched < before.num_nodes])
    nodes = np.union1d(touched, np.arange(before.num_nodes, num_nodes))
    return with_rows(before, nodes, distinct(merged_entries([existing, new])), num_nodes)


def with_rows(
    before: Adjacency, nodes: IntArray, entries: Entries, num_nodes: int
) -> GrownAdjacency:
    """Replace rows of an adjacency; rows that earlier growths changed remain stored separately.

    Args:
        nodes: Nodes whose rows are replaced, including all new nodes; ascending.
        entries: All entries of the replaced rows, sorted and without duplicates.
    """
    base = before
    if isinstance(before, GrownAdjacency):
        base = before.base
        unchanged = before.nodes[~np.isin(before.nodes, nodes)]
        nodes = np.union1d(unchanged, nodes)
        entries = merged_entries([rows_of(before, unchanged), entries])
        entries = entries.select(np.argsort(entries.rows, kind="stable"))
    return with_rows_apart(base, nodes, entries, num_nodes)


def with_rows_apart(
    base: Adjacency, nodes: IntArray, entries: Entries, num_nodes: int
) -> GrownAdjacency:
    """Return `base` with replaced rows, which are stored separately from it.

    Rows that `base` itself stores separately remain in `base`.

    Args:
        nodes: Nodes whose rows are replaced, including all new nodes; ascending.
        entries: All entries of the replaced rows, sorted and without duplicates.
    """
    innermost = base
    while isinstance(innermost, GrownAdjacency):
        innermost = innermost.base
    kind = innermost.indices.dtype
    ends = np.append(np.searchsorted(entries.rows, nodes), entries.rows.size).astype(kind)
    rows = Adjacency(ends, entries.columns.astype(kind), entries.weights, entries.directions)
    return GrownAdjacency(base, nodes, rows, num_nodes)


def can_stay_apart(grown: GrownAdjacency) -> bool:
    """Return whether the changed rows of an adjacency are few enough to be stored separately."""
    entries = grown.apart.indices.size + grown.nodes.size
    few = entries * LARGEST_SHARE <= grown.base.indices.size and grown.is_small_growth
    fits = index_type(max(grown.num_nodes, 2 * grown.num_edges)) == grown.base.indices.dtype
    return fits and (few or entries <= FEWEST_ENTRIES)


def combine(kinds: Sequence[Adjacency], weights: Sequence[float] | None) -> Adjacency:
    """Combine the edges of several edge types into one adjacency.

    If every edge type stores its changed rows separately, the result does, too.

    Args:
        kinds: Edges of each edge type; either all types store changed rows separately, or none
            does.
        weights: Weight of each edge type; None to merge the types without such weights.
    """
    grown = [kind for kind in kinds if isinstance(kind, GrownAdjacency)]
    if len(grown) == len(kinds):
        before = combine([kind.base for kind in grown], weights)
        nodes = reduce(np.union1d, [kind.nodes for kind in grown])
        return combine_again(before, kinds, weights, nodes)
    return merged(kinds) if weights is None else merged_with_weights(kinds, weights)


def combine_again(
    before: Adjacency,
    kinds: Sequence[Adjacency],
    weights: Sequence[float] | None,
    nodes: IntArray,
) -> Adjacency:
    """Update the combined adjacency of several edge types after some rows have changed.

    The changed rows are stored separately if they are stored separately in every edge type.

    Args:
        before: Combined adjacency before the change, from :func:`combine`.
        nodes: Nodes whose rows have changed in any edge type, ascending.
    """
    if weights is None and len(kinds) == 1:
        return kinds[0]
    entries = joined_rows(kinds, weights, nodes)
    grown = with_rows(before, nodes, entries, kinds[0].num_nodes)
    return grown if all(isinstance(kind, GrownAdjacency) for kind in kinds) else grown.whole


def joined_rows(
    kinds: Sequence[Adjacency], weights: Sequence[float] | None, nodes: IntArray
) -> Entries:
    """Return all entries of the given nodes, combined over all edge types.

    Args:
        nodes: Node numbers, ascending.
    """
    parts = [rows_of(kind, nodes) for kind in kinds]
    if weights is None:
        return distinct(merged_entries(parts))
    if any(weight > 0 for weight in weights):
        return distinct(weighted_entries(parts, weights), summed=True)
    return Entries(nodes[:0], nodes[:0])


def rows_of(adjacency: Adjacency, nodes: IntArray) -> Entries:
    """Return all entries of the given nodes; unlike in ``entries_of``, rows are node numbers."""
    entries = adjacency.entries_of(nodes)
    return entries._replace(rows=nodes[entries.rows])


def _interleave(
    second: NDArray[np.bool_], first_part: NDArray[Any], second_part: NDArray[Any]
) -> NDArray[Any]:
    """Interleave two arrays: take from the second where the mask `second` is true."""
    values = np.empty(second.size, dtype=first_part.dtype)
    values[~second], values[second] = first_part, second_part
    return values
