"""Walks that look at no more of a graph than walkers reach, whatever its size."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray

Floats = NDArray[np.float64]


class Walk(NamedTuple):
    """Where walkers from one set of nodes came to."""

    nodes: IntArray
    """The nodes met, ascending."""

    mass: NDArray[np.float32]
    """What is at each: restarts x nodes."""

    ended: Floats
    """How many walkers ended at each: the same but for the degree of the node."""

    crossed: IntArray
    """Nodes that walkers started or were followed from: nothing depends on others' edges, but the
    degree that mass counts by, and whether a node has so few that it would be crossed, too."""

    def grown(self, adjacency: Adjacency, changed: IntArray) -> "Walk | None":
        """The same after growth, to the bit; None where another walk came to be.

        Args:
            adjacency: The edges now.
            changed: The nodes whose edges are others, none of which has fewer; ascending.
        """
        if places_in(self.crossed, changed).size:
            return None
        places = places_in(self.nodes, changed)
        mass = self.mass.copy()
        mass[:, places] = self.ended[:, places] / _roots(_sizes(adjacency, self.nodes[places])[1])
        return self._replace(mass=mass)


class LocalWalks:
    """Follows walkers among the nodes that they meet, which are numbered as they are met.

    Args:
        adjacency: The edges.
        tolerance: Walkers are followed from a node where they count for so much at each edge.
        decay: How much less walkers count at each step.
        ended: Which share of walks ends at each step: restarts x steps.
    """

    def __init__(self, adjacency: Adjacency, tolerance: float, decay: float, ended: Floats) -> None:
        self._adjacency = adjacency
        self._tolerance = tolerance
        self._decay = decay
        self._ended = ended
        self._number = np.full(adjacency.num_nodes, -1, dtype=np.int32)
        """Of each node, in the walk that is followed just now."""

    def walk(self, start: IntArray, weight: float) -> Walk:
        """Follow walkers.

        Args:
            start: Where walkers start from, evenly; each node once.
            weight: How much all of them count at first, for whether they are followed.
        """
        met = _Met(self._adjacency, self._number)
        try:
            met.add(start)
            walkers, steps = met.roots / start.size, list[Floats]()
            while walkers.any() and len(steps) < self._ended.shape[1]:
                steps.append(walkers)
                walkers = met.step(walkers, self._tolerance / weight)
                weight *= self._decay
            nodes = np.sort(met.nodes)
            order = self._number[nodes]
            passing = np.stack([_widened(one, nodes.size) for one in steps])
            ended = self._ended[:, : len(steps)] @ passing
            mass = np.take((ended / met.roots).astype(np.float32), order, axis=1)
            crossed = np.union1d(start, met.nodes[met.sources])
            return Walk(nodes, mass, np.take(ended, order, axis=1), crossed)
        finally:
            self._number[met.nodes] = -1


class _Met:
    """The nodes that walkers have met, and the edges of those from which they were followed."""

    def __init__(self, adjacency: Adjacency, number: NDArray[np.int32]) -> None:
        self._adjacency = adjacency
        self._number = number
        self.nodes: IntArray = np.zeros(0, dtype=np.int64)
        self._edges = np.zeros(0)
        """How many each node has, itself counted."""
        self._weights = np.zeros(0)
        """The same, edges counted by their weight."""
        self._is_source = np.zeros(0, dtype=bool)
        self.sources: IntArray = self.nodes
        """Those that walkers were followed from, by number."""
        self._counts: IntArray = self.nodes
        self._targets: IntArray = self.nodes
        self._target_weights: NDArray[np.float32] | None = None

    @property
    def roots(self) -> Floats:
        """Of what all edges of each node weigh."""
        return _roots(self._weights)

    def add(self, nodes: IntArray) -> None:
        """Number nodes that were not met before.

        Args:
            nodes: Each once.
        """
        self._number[nodes] = np.arange(self.nodes.size, self.nodes.size + nodes.size)
        edges, weights = _sizes(self._adjacency, nodes)
        self.nodes = np.concatenate((self.nodes, nodes))
        self._edges = np.concatenate((self._edges, edges))
        self._weights = np.concatenate((self._weights, weights))
        self._is_source = np.concatenate((self._is_source, np.zeros(nodes.size, dtype=bool)))

    def step(self, walkers: Floats, least: float) -> Floats:
        """Where walkers are a step later, by number.

        Args:
            walkers: How many are at each node.
            least: They are followed where there are so many for each edge.
        """
        followed = walkers >= least * self._edges[: walkers.size]
        new = np.flatnonzero(followed & ~self._is_source[: walkers.size])
        if new.size:
            self._look_around(new)
        shares = np.zeros(self.nodes.size)
        shares[: walkers.size][followed] = (walkers / self._weights[: walkers.size])[followed]
        sent = np.repeat(shares[self.sources], self._counts)
        if self._target_weights is not None:
            sent *= self._target_weights
        return np.bincount(self._targets, sent, self.nodes.size) + shares

    def _look_around(self, sources: IntArray) -> None:
        """Take in the edges of nodes from which nobody was followed before."""
        counts, found, weights = self._adjacency.weighted_neighbours(self.nodes[sources])
        # Wide, and by np.take: narrow indices would be widened each time.
        neighbours = found.astype(np.intp, copy=False)
        fresh = neighbours[np.take(self._number, neighbours) < 0]
        # Of a node that comes several times one entry is found again.
        order = np.arange(fresh.size, dtype=np.int32)
        self._number[fresh] = order
        self.add(fresh[np.take(self._number, fresh) == order])
        self._is_source[sources] = True
        self.sources = np.concatenate((self.sources, sources))
        self._counts = np.concatenate((self._counts, counts))
        self._targets = np.concatenate((self._targets, np.take(self._number, neighbours)))
        if weights is not None:
            before = self._target_weights
            known = weights if before is None else np.concatenate((before, weights))
            self._target_weights = known


def places_in(nodes: IntArray, some: IntArray) -> IntArray:
    """Where those of some nodes are that are among others.

    Args:
        nodes: The others, ascending.
        some: Node numbers.
    """
    places = np.minimum(np.searchsorted(nodes, some), nodes.size - 1)
    found: IntArray = places[nodes[places] == some]
    return found


def _sizes(adjacency: Adjacency, nodes: IntArray) -> tuple[Floats, Floats]:
    """How many edges nodes have, themselves counted, and the same by weight."""
    edges = adjacency.degrees(nodes).astype(np.float64) + 1.0
    if not adjacency.is_weighted:
        return edges, edges
    return edges, (adjacency.weighted_degrees(nodes) + 1.0).astype(np.float64)


def _roots(weights: Floats) -> Floats:
    roots: Floats = np.sqrt(weights)
    return roots


def _widened(walkers: Floats, size: int) -> Floats:
    wide = np.zeros(size)
    wide[: walkers.size] = walkers
    return wide
