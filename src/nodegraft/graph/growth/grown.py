"""An adjacency that has grown: the rows that changed are stored apart, all others stay where they
were."""

from collections.abc import Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Directions, Entries, Weights, distinct
from nodegraft.graph.edges.matrix import FloatArray, IntArray, index_type
from nodegraft.graph.edges.relation import merged, merged_entries, weighed, weighed_entries

FEWEST_ENTRIES, LARGEST_SHARE = 4096, 16
"""Rows are stored apart while they hold fewer entries than this, or, after a small growth, than
this part of the rest; beyond, all is put together again."""

FEW_NODES, FEW_EDGES = 100, 50
"""A growth is small until more than this part of all nodes, or of the weights of all edges, is new:
one percent, two percent. Heat diffuses on the edges as they were before it."""


class GrownAdjacency(Adjacency):
    """Adjacency whose queries cost only the rows asked for; whole arrays are made when they are
    read.

    Args:
        base: As it was.
        nodes: The nodes whose rows have changed, ascending; all new ones are among them.
        rows: Their rows: number ``i`` is that of ``nodes[i]``, columns are node numbers.
        num_nodes: How many nodes there are now.
    """

    def __init__(self, base: Adjacency, nodes: IntArray, rows: Adjacency, num_nodes: int) -> None:
        is_apart = np.zeros(num_nodes, dtype=bool)
        is_apart[nodes] = True
        parts = {"base": base, "nodes": nodes, "apart": rows, "_is_apart": is_apart}
        # The dataclass is frozen, and its arrays are made when somebody asks for them.
        vars(self).update(parts)

    base: Adjacency
    nodes: IntArray
    apart: Adjacency
    _is_apart: NDArray[np.bool_]

    @cached_property
    def is_small_growth(self) -> bool:
        """Whether one percent of the nodes and two percent of all edge weights are new, at most."""
        old = self.nodes[self.nodes < self.base.num_nodes]
        before, now = self.base.weighted_degrees(old).sum(), self.apart.weighted_degrees().sum()
        new_nodes = self.num_nodes - self.base.num_nodes
        return bool(
            FEW_NODES * new_nodes <= self.num_nodes
            and FEW_EDGES * (now - before) <= self.base.weighted_degrees().sum()
        )

    @cached_property
    def whole(self) -> Adjacency:
        """Equal adjacency in one piece."""
        everyone = np.arange(self.num_nodes)
        ends = np.concatenate(([0], np.cumsum(self.degrees(everyone))))
        _, columns, weights, directions = self.entries_of(everyone)
        kind = index_type(max(self.num_nodes, columns.size))
        return Adjacency(ends.astype(kind), columns.astype(kind, copy=False), weights, directions)

    @property
    def indptr(self) -> IntArray:
        """Row ends of :attr:`whole`."""
        return self.whole.indptr

    @property
    def indices(self) -> IntArray:
        """Columns of :attr:`whole`."""
        return self.whole.indices

    @property
    def weights(self) -> Weights | None:
        """Weights of :attr:`whole`."""
        return self.whole.weights if self.is_weighted else None

    @property
    def directions(self) -> Directions | None:
        """Directions of :attr:`whole`."""
        return self.whole.directions if self.is_directed else None

    @property
    def counted(self) -> None:
        """Normalisation counts these edges."""
        return

    @property
    def num_nodes(self) -> int:
        """How many nodes, isolated ones included."""
        return self._is_apart.size

    @cached_property
    def num_edges(self) -> int:
        """How many undirected edges."""
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
        """Return the number of neighbours of some nodes; None for all nodes."""
        asked = np.arange(self.num_nodes) if nodes is None else nodes
        is_apart = self._is_apart[asked]
        found: IntArray = self.base.degrees(asked[~is_apart])
        if found.size == asked.size:
            return found
        return _woven(is_apart, found, self.apart.degrees(self._places_apart(asked[is_apart])))

    def weighted_degrees(self, nodes: IntArray | None = None) -> FloatArray | IntArray:
        """Return the sums of edge weights of some nodes; None for all nodes."""
        if not self.is_weighted:
            return self.degrees(nodes)
        asked = np.arange(self.num_nodes) if nodes is None else nodes
        is_apart = self._is_apart[asked]
        found = self.base.weighted_degrees(asked[~is_apart])
        if found.size == asked.size:
            return found
        own = self.apart.weighted_degrees(self._places_apart(asked[is_apart]))
        return _woven(is_apart, found, own)

    def neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray]:
        """Return how many neighbours each node has, and the neighbours, node after node."""
        counts, neighbours, _ = self.weighted_neighbours(nodes)
        return counts, neighbours

    def weighted_neighbours(self, nodes: IntArray) -> tuple[IntArray, IntArray, Weights | None]:
        """Return counts, neighbours and weights; None where all weigh 1."""
        entries = self.entries_of(nodes)
        return self.degrees(nodes), entries.columns, entries.weights

    def entries_of(self, nodes: IntArray) -> Entries:
        """Return the stored edges of some nodes; row numbers are positions in `nodes`."""
        is_apart = self._is_apart[nodes]
        theirs = self.base.entries_of(nodes[~is_apart])
        if not is_apart.any():
            return theirs
        own = self.apart.entries_of(self._places_apart(nodes[is_apart]))
        counts = self.degrees(nodes)
        entry_is_apart = np.repeat(is_apart, counts)
        woven = [
            None if others is None or mine is None else _woven(entry_is_apart, others, mine)
            for others, mine in zip(theirs[1:], own[1:], strict=True)
        ]
        return Entries(np.repeat(np.arange(nodes.size), counts), *woven)  # type: ignore[arg-type]

    def counting_all(self) -> Adjacency:
        """Return the same edges, whose parts are normalised by the degrees that nodes have here."""
        return self.whole.counting_all()

    def widened(self, num_nodes: int) -> Adjacency:
        """Return the same edges with more nodes, which have none."""
        return self.whole.widened(num_nodes)

    def _places_apart(self, nodes: IntArray) -> IntArray:
        return np.searchsorted(self.nodes, nodes)


def with_edges(before: Adjacency, new: Entries, num_nodes: int) -> GrownAdjacency | None:
    """Add edges and, behind, nodes; return None if all entries would change their form.

    Of an edge that was there the larger weight counts.
    """
    if (new.weights is not None and not before.is_weighted) or (
        new.directions is not None and not before.is_directed
    ):
        return None
    joined = np.unique(new.rows)
    held = rows_of(before, joined[joined < before.num_nodes])
    nodes = np.union1d(joined, np.arange(before.num_nodes, num_nodes))
    return with_rows(before, nodes, distinct(merged_entries([held, new])), num_nodes)


def with_rows(
    before: Adjacency, nodes: IntArray, entries: Entries, num_nodes: int
) -> GrownAdjacency:
    """Replace the rows of some nodes.

    Args:
        nodes: Nodes, ascending; all new ones among them.
        entries: All that their rows hold, every entry once, in order.
    """
    base = before
    if isinstance(before, GrownAdjacency):
        base = before.base
        kept = before.nodes[~np.isin(before.nodes, nodes)]
        nodes = np.union1d(kept, nodes)
        entries = merged_entries([rows_of(before, kept), entries])
        order = np.argsort(entries.rows, kind="stable")
        entries = Entries(*(None if part is None else part[order] for part in entries))  # type: ignore[arg-type]
    return with_rows_apart(base, nodes, entries, num_nodes)


def with_rows_apart(
    base: Adjacency, nodes: IntArray, entries: Entries, num_nodes: int
) -> GrownAdjacency:
    """Return the edges with other rows of some nodes, whatever lies behind the edges.

    Args:
        base: The edges; they may have grown.
    """
    innermost = base
    while isinstance(innermost, GrownAdjacency):
        innermost = innermost.base
    kind = innermost.indices.dtype
    ends = np.append(np.searchsorted(entries.rows, nodes), entries.rows.size).astype(kind)
    rows = Adjacency(ends, entries.columns.astype(kind), entries.weights, entries.directions)
    return GrownAdjacency(base, nodes, rows, num_nodes)


def can_stay_apart(grown: GrownAdjacency) -> bool:
    """Return whether the rows that have changed are few enough to be stored apart."""
    entries = grown.apart.indices.size + grown.nodes.size
    few = entries * LARGEST_SHARE <= grown.base.indices.size and grown.is_small_growth
    fits = index_type(max(grown.num_nodes, 2 * grown.num_edges)) == grown.base.indices.dtype
    return fits and (few or entries <= FEWEST_ENTRIES)


def joined(kinds: Sequence[Adjacency], weights: Sequence[float] | None) -> Adjacency:
    """Kinds of edges as one adjacency; rows that are stored apart stay so.

    Args:
        kinds: The edges of each kind; all have rows apart, or none has.
        weights: What each kind is worth; None merges them.
    """
    grown = [kind for kind in kinds if isinstance(kind, GrownAdjacency)]
    if len(grown) == len(kinds):
        before = joined([kind.base for kind in grown], weights)
        nodes = reduce(np.union1d, [kind.nodes for kind in grown])
        return again_joined(before, kinds, weights, nodes)
    return merged(kinds) if weights is None else weighed(kinds, weights)


def again_joined(
    before: Adjacency,
    kinds: Sequence[Adjacency],
    weights: Sequence[float] | None,
    nodes: IntArray,
) -> Adjacency:
    """Kinds of edges as one adjacency again, after some rows of them have changed.

    These are stored apart where they are apart in every kind.

    Args:
        weights: What each kind is worth; None merges them.
        nodes: The nodes whose rows have changed in any kind, ascending.
    """
    if weights is None and len(kinds) == 1:
        return kinds[0]
    entries = joined_rows(kinds, weights, nodes)
    grown = with_rows(before, nodes, entries, kinds[0].num_nodes)
    return grown if all(isinstance(kind, GrownAdjacency) for kind in kinds) else grown.whole


def joined_rows(
    kinds: Sequence[Adjacency], weights: Sequence[float] | None, nodes: IntArray
) -> Entries:
    """Return the rows of some nodes in all kinds of edges as one.

    Args:
        weights: What each kind is worth; None merges them.
        nodes: Node numbers, ascending.
    """
    parts = [rows_of(kind, nodes) for kind in kinds]
    if weights is None:
        return distinct(merged_entries(parts))
    if any(weight > 0 for weight in weights):
        return distinct(weighed_entries(parts, weights), summed=True)
    return Entries(nodes[:0], nodes[:0])


def rows_of(adjacency: Adjacency, nodes: IntArray) -> Entries:
    """Return all entries of some nodes, by their numbers."""
    entries = adjacency.entries_of(nodes)
    return entries._replace(rows=nodes[entries.rows])


def _woven(
    second: NDArray[np.bool_], first_part: NDArray[Any], second_part: NDArray[Any]
) -> NDArray[Any]:
    """Two sequences as one: the mask says which items are of the second."""
    woven = np.empty(second.size, dtype=first_part.dtype)
    woven[~second], woven[second] = first_part, second_part
    return woven
