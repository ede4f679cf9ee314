"""Walks that look at no more of a graph than walkers reach, whatever its size."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray

Floats = NDArray[np.float64]

FINENESS = 64
"""So many walkers for each edge of a node are followed from it at first, and more later. Their
numbers are whole: sums of them are exact in any order (up to 2^53, which takes a node whose edges
weigh 10^19), and what a growth adds or takes away can be followed alone, until it is less than a
walker."""


class Walk(NamedTuple):
    """Where walkers from one set of nodes came to."""

    start: IntArray
    """The set."""

    nodes: IntArray
    """The nodes met, ascending."""

    passing: Floats | NDArray[np.float32]
    """How many walkers are at each after every step: nodes x steps."""

    mass: NDArray[np.float32]
    """What is at each: restarts x nodes."""


class Rules(NamedTuple):
    """How far walkers are followed, and what they leave."""

    tolerance: float
    """They are followed from a node where they count for so much at each edge."""

    decay: float
    """How much less they count at each step."""

    ended: Floats
    """Which share of walks ends at each step: restarts x steps."""

    fewest: int
    """Smaller sets count as if they had so many nodes."""

    most: int
    """And larger ones."""

    @property
    def steps(self) -> int:
        """At most."""
        return int(self.ended.shape[1])

    def least(self, step: int) -> float:
        """How many walkers must be at a node, for each edge, to be followed.

        Args:
            step: Which step of the walk.
        """
        return FINENESS / self.decay**step

    def _walkers(self, starts: int) -> float:
        """How many stand for all that a set of so many nodes has, if its nodes had no edges."""
        return FINENESS * min(max(starts, self.fewest), self.most) / self.tolerance

    def started(self, starts: int, roots: Floats) -> Floats:
        """How many walkers start at some nodes of a set.

        Args:
            starts: How many nodes the set has.
            roots: Of what all edges of each weigh.
        """
        return np.maximum(1.0, np.rint(self._walkers(starts) / starts * roots))

    def mass(self, starts: int, steps: Iterable[Floats], roots: Floats) -> NDArray[np.float32]:
        """What walkers leave: restarts x nodes.

        Node by node, so that a node has the same in whatever company.

        Args:
            starts: How many nodes they start from.
            steps: How many walkers are at each node after every step.
            roots: Of what all edges of each node weigh.
        """
        total = np.zeros((len(self.ended), roots.size))
        for shares, walkers in zip(self.ended.T / self._walkers(starts), steps, strict=False):
            total += shares[:, None] * walkers
        return (total / roots).astype(np.float32)


class LocalWalks:
    """Follows walkers among the nodes that they meet, which are numbered as they are met.

    Args:
        adjacency: The edges.
        rules: How far, and what they leave.
    """

    def __init__(self, adjacency: Adjacency, rules: Rules) -> None:
        self._adjacency = adjacency
        self._rules = rules
        self._number = np.full(adjacency.num_nodes, -1, dtype=np.int32)
        """Of each node, in the walk that is followed just now."""

    def walk(self, start: IntArray) -> Walk:
        """Follow walkers.

        Args:
            start: Where walkers start from, evenly; each node once.
        """
        met = _Met(self._adjacency, self._number)
        try:
            met.add(start)
            walkers, steps = self._rules.started(start.size, met.roots), list[Floats]()
            while walkers.any() and len(steps) < self._rules.steps:
                steps.append(walkers)
                walkers = met.step(walkers, self._rules.least(len(steps) - 1))
            passing = np.stack([_widened(one, met.nodes.size) for one in steps], axis=1)
            reached = np.flatnonzero(passing.any(axis=1))
            order = reached[np.argsort(met.nodes[reached])]
            passing = np.take(passing, order, axis=0)
            mass = self._rules.mass(start.size, passing.T, met.roots[order])
            return Walk(start, met.nodes[order], packed(passing), mass)
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
        self._sources: IntArray = self.nodes
        """Those that walkers were followed from, by number."""
        self._counts: IntArray = self.nodes
        self._targets: IntArray = self.nodes
        self._target_weights: NDArray[np.float32] | None = None

    @property
    def roots(self) -> Floats:
        """Of what all edges of each node weigh."""
        roots: Floats = np.sqrt(self._weights)
        return roots

    def add(self, nodes: IntArray) -> None:
        """Number nodes that were not met before.

        Args:
            nodes: Each once.
        """
        self._number[nodes] = np.arange(self.nodes.size, self.nodes.size + nodes.size)
        edges, weights = sizes(self._adjacency, nodes)
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
        now = slice(walkers.size)
        shares = np.zeros(self.nodes.size)
        shares[now] = shares_sent(walkers, least, self._edges[now], self._weights[now])
        new = np.flatnonzero((shares[now] > 0) & ~self._is_source[now])
        if new.size:
            self._look_around(new)
            shares = _widened(shares, self.nodes.size)
        sent = along_edges(np.repeat(shares[self._sources], self._counts), self._target_weights)
        arrived = np.bincount(self._targets, sent, self.nodes.size)
        return np.asarray(arrived + np.rint(shares), dtype=np.float64)

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
        self._sources = np.concatenate((self._sources, sources))
        self._counts = np.concatenate((self._counts, counts))
        self._targets = np.concatenate((self._targets, np.take(self._number, neighbours)))
        if weights is not None:
            before = self._target_weights
            known = weights if before is None else np.concatenate((before, weights))
            self._target_weights = known


def packed(walkers: Floats) -> Floats | NDArray[np.float32]:
    """The same numbers in half the memory, where that can hold them.

    Args:
        walkers: Whole numbers.
    """
    return walkers.astype(np.float32) if walkers.max(initial=0.0) <= 2**24 else walkers


def shares_sent(walkers: Floats, least: float, edges: Floats, weights: Floats) -> Floats:
    """How many walkers go from each node along an edge of weight 1; 0 where none is followed.

    As many along the mean edge as a whole number can say, whatever edges weigh.

    Args:
        walkers: How many are at each node.
        least: They are followed where there are so many for each edge.
        edges: How many edges each node has, itself counted.
        weights: What they weigh.
    """
    share = np.rint(walkers / edges) * (edges / weights)
    return np.where(walkers >= least * edges, share, 0.0)


def along_edges(shares: Floats, weights: NDArray[np.float32] | None) -> Floats:
    """How many walkers go along each edge.

    Args:
        shares: As if each weighed 1.
        weights: What edges weigh; None for 1.
    """
    return shares if weights is None else np.rint(shares * weights)


def sizes(adjacency: Adjacency, nodes: IntArray) -> tuple[Floats, Floats]:
    """How many edges nodes have, themselves counted, and the same by weight.

    Args:
        adjacency: The edges.
        nodes: Node numbers.
    """
    edges = adjacency.degrees(nodes).astype(np.float64) + 1.0
    if not adjacency.is_weighted:
        return edges, edges
    return edges, (adjacency.weighted_degrees(nodes) + 1.0).astype(np.float64)


def _widened(walkers: Floats, size: int) -> Floats:
    wide = np.zeros(size)
    wide[: walkers.size] = walkers
    return wide
