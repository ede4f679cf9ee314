"""Record of what a grown graph shares with the graphs that it grew from.

Row i of S^h X changes only if an edge was added at most h steps away from i: ``Growth.within(h)``
is that set, and caches of all other rows stay valid. Ancestors are weak references, so no graph
keeps the graph before it in memory. Everything is rebuilt if more than an eighth of all nodes are
touched, if nodes are removed, or if a new edge type, or weights or directions for the first time,
are added.
"""

from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import Memo
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray

Member = TypeVar("Member")

GENERATIONS = 8
"""Graphs so many growths ago are remembered, if anybody still has them."""


@dataclass(frozen=True, eq=False)
class Growth:
    """Nodes that growth changed.

    Row :math:`i` of :math:`S^h X` depends on the edges and degrees of the nodes up to ``h`` steps
    away: where no edge came to any of these, it has not changed.
    """

    adjacency: Adjacency
    """The edges as they are now."""

    touched: IntArray
    """Nodes whose edges of any type have changed, and new nodes; ascending."""

    _reach: Memo[NDArray[np.bool_]] = field(default_factory=Memo, init=False, repr=False)
    """Cached results of :meth:`within`, by number of hops."""

    def within(self, hops: int) -> NDArray[np.bool_]:
        """Return for every node whether one that changed is at most a number of steps away."""
        return self._reach.get(hops, lambda: self._within(hops))

    def _within(self, hops: int) -> NDArray[np.bool_]:
        if hops == 0:
            reached = np.zeros(self.adjacency.num_nodes, dtype=bool)
            reached[self.touched] = True
            return reached
        nearer = self.within(hops - 1)
        _, neighbours = self.adjacency.neighbours(np.flatnonzero(nearer))
        reached = nearer.copy()
        reached[neighbours] = True
        return reached

    def after(self, earlier: "Growth") -> "Growth":
        """Both growths as one."""
        return Growth(self.adjacency, np.union1d(earlier.touched, self.touched))


class Lineage(Generic[Member]):
    """Objects that something grew from, held weakly so that replaced ones can be freed."""

    def __init__(self) -> None:
        self._ancestors: list[tuple[ref[Member], Growth]] = []

    def grown_from(self, parent: Member, parents: "Lineage[Member]", growth: Growth) -> None:
        """Remember where it came from."""
        older = [
            (reference, growth.after(since))
            for reference, since in parents._ancestors
            if reference()
        ]
        self._ancestors = [(ref(parent), growth), *older][:GENERATIONS]

    def since(self, ancestor: Member) -> Growth | None:
        """Return what changed since an earlier object; None if they are not related."""
        found = (growth for reference, growth in self._ancestors if reference() is ancestor)
        return next(found, None)
