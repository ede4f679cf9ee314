"""Walks on a graph that has grown: only the walkers that go elsewhere are followed."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.local_walk import (
    Floats,
    Rules,
    Walk,
    along_edges,
    packed,
    shares_sent,
    sizes,
)
from nodegraft.graph.algebra.matrix import IntArray, located

LARGEST_SHARE = 0.2
"""Where a step would have to look at more edges than this share of the nodes that a walk meets, it
is followed anew: differences soon are everywhere."""


class Difference(NamedTuple):
    """How many walkers more or fewer are where, after a step."""

    places: IntArray
    """Node and walk in one number, each once and ascending."""

    walkers: Floats
    """Whole numbers other than 0."""


def grown_walks(
    walks: Sequence[Walk], before: Adjacency, after: Adjacency, changed: IntArray, rules: Rules
) -> list[Walk | None]:
    r"""The same walks on the larger graph, to the bit; None where one should be followed anew.

    With :math:`w_t` where walkers are and :math:`W` what a step does, :math:`w'_{t+1} - w_{t+1} =
    W'(w'_t) - W(w_t)`, which is what other nodes than before send, or along other edges. Walkers
    are whole numbers, so that differences are exact.

    Args:
        walks: As they were.
        before: The edges.
        after: The edges now; old nodes have the same numbers.
        changed: The nodes whose edges are others, and new ones.
        rules: How far walkers are followed, and what they leave.
    """
    if not walks:
        return []
    together = _Together(walks, before, after, changed, rules)
    steps = together.differences()
    return [
        together.with_differences(number, steps) if goes_on else None
        for number, goes_on in enumerate(together.goes_on)
    ]


class _Together:
    """Several walks side by side."""

    def __init__(
        self,
        walks: Sequence[Walk],
        before: Adjacency,
        after: Adjacency,
        changed: IntArray,
        rules: Rules,
    ) -> None:
        self._walks, self._rules = walks, rules
        self._before, self._after = before, after
        self._span = after.num_nodes
        self._is_changed = np.zeros(self._span, dtype=bool)
        self._is_changed[changed] = True
        self._first = self._span * np.arange(len(walks) + 1)
        """Where the places of each walk begin."""
        met = [walk.nodes[self._is_changed[walk.nodes]] for walk in walks]
        self._met_changed = np.concatenate(
            [first + nodes for first, nodes in zip(self._first, met, strict=False)]
        )
        self._most = np.array([LARGEST_SHARE * walk.nodes.size for walk in walks])
        self.goes_on = np.ones(len(walks), dtype=bool)
        """Whether a difference is still worth following, for each walk."""

    def differences(self) -> list[Difference]:
        """After every step; the first is at the starts."""
        steps = [self._at_the_starts()]
        longest = max(walk.passing.shape[1] for walk in self._walks)
        while len(steps) < self._rules.steps and (len(steps) <= longest or steps[-1].places.size):
            steps.append(self._next(len(steps) - 1, steps[-1]))
        return steps

    def _at_the_starts(self) -> Difference:
        found = [Difference(self._met_changed[:0], np.zeros(0))]
        for first, walk in zip(self._first, self._walks, strict=False):
            nodes = walk.start[self._is_changed[walk.start]]
            if nodes.size:
                roots = np.sqrt(sizes(self._after, nodes)[1])
                were = walk.passing[np.searchsorted(walk.nodes, nodes), 0]
                now = self._rules.started(walk.start.size, roots)
                found.append(Difference(first + nodes, now - were))
        return _summed(found)

    def _next(self, step: int, difference: Difference) -> Difference:
        active = _distinct(difference.places, self._met_changed)
        active = active[self.goes_on[active // self._span]]
        numbers, nodes = np.divmod(active, self._span)
        was = self._passing(step, active, nodes)
        now = was.copy()
        now[np.searchsorted(active, difference.places)] += difference.walkers
        least, old = self._rules.least(step), nodes < self._before.num_nodes
        edges, weights = sizes(self._after, nodes)
        sent_before, sent_now = np.zeros(active.size), shares_sent(now, least, edges, weights)
        sent_before[old] = shares_sent(was[old], least, *sizes(self._before, nodes[old]))
        differs = self._is_changed[nodes] | (sent_before != sent_now)
        differs &= (sent_before > 0) | (sent_now > 0)
        self.goes_on &= np.bincount(numbers, differs * edges, len(self._walks)) <= self._most
        differs &= self.goes_on[numbers]
        gone = self._sent(self._before, active[differs], sent_before[differs])
        come = self._sent(self._after, active[differs], sent_now[differs])
        return _summed([gone._replace(walkers=-gone.walkers), come])

    def _passing(self, step: int, places: IntArray, nodes: IntArray) -> Floats:
        """How many walkers there were."""
        found = np.zeros(nodes.size)
        ends = np.searchsorted(places, self._first)
        for walk, start, stop in zip(self._walks, ends, ends[1:], strict=False):
            if start < stop and step < walk.passing.shape[1]:
                asked = nodes[start:stop]
                place, is_met = located(walk.nodes, asked)
                found[start:stop] = np.where(is_met, walk.passing[place, step], 0.0)
        return found

    def _sent(self, adjacency: Adjacency, places: IntArray, shares: Floats) -> Difference:
        """Where walkers go, and how many."""
        some = shares > 0
        places, shares = places[some], shares[some]
        nodes = places % self._span
        counts, targets, weights = adjacency.weighted_neighbours(nodes)
        along = along_edges(np.repeat(shares, counts), weights)
        reached = np.repeat(places - nodes, counts) + targets
        stay = np.rint(shares)
        return Difference(np.concatenate((reached, places)), np.concatenate((along, stay)))

    def with_differences(self, number: int, steps: Sequence[Difference]) -> Walk:
        """A walk and what differs.

        Args:
            number: Which one.
            steps: The differences of all.
        """
        walk, first, last = self._walks[number], self._first[number], self._first[number + 1]
        nodes, length = walk.nodes, walk.passing.shape[1]
        parts = [slice(*np.searchsorted(one.places, (first, last))) for one in steps]
        met = [one.places[part] - first for one, part in zip(steps, parts, strict=True)]
        touched = _distinct(nodes[self._is_changed[nodes]], *met)
        place, old = located(nodes, touched)
        longest = max(length, *(step + 1 for step, some in enumerate(met) if some.size), 0)
        passing = np.zeros((touched.size, longest))
        passing[old, :length] = walk.passing[place[old]]
        for step, (some, one, part) in enumerate(zip(met, steps, parts, strict=True)):
            if some.size:
                passing[np.searchsorted(touched, some), step] += one.walkers[part]
        roots = np.sqrt(sizes(self._after, touched)[1])
        mass = self._rules.mass(walk.start.size, passing.T, roots)
        stays = np.ones(nodes.size, dtype=bool)
        stays[place[old]] = False
        here = passing.any(axis=1)
        return _joined(walk, stays, touched[here], passing[here], mass[:, here])


def _summed(parts: Sequence[Difference]) -> Difference:
    """As one."""
    places = np.concatenate([one.places for one in parts])
    walkers = np.concatenate([one.walkers for one in parts])
    if places.size:
        order = np.argsort(places)
        places = places[order]
        first = np.flatnonzero(_is_first(places))
        places, walkers = places[first], np.add.reduceat(walkers[order], first)
    remains = walkers != 0.0
    return Difference(places[remains], walkers[remains])


def _joined(
    walk: Walk,
    stays: NDArray[np.bool_],
    nodes: IntArray,
    passing: Floats,
    mass: NDArray[np.float32],
) -> Walk:
    """What stays of a walk, and other nodes with what is at them."""
    kept = np.flatnonzero(stays)
    new = np.searchsorted(walk.nodes[kept], nodes) + np.arange(nodes.size)
    is_old = np.ones(kept.size + nodes.size, dtype=bool)
    is_old[new] = False
    order = np.empty(is_old.size, dtype=np.intp)
    order[is_old], order[new] = kept, stays.size + np.arange(nodes.size)
    wider = np.zeros((stays.size, passing.shape[1] - walk.passing.shape[1]), walk.passing.dtype)
    before = np.concatenate((walk.passing, wider), axis=1) if wider.size else walk.passing
    all_passing = np.take(np.concatenate((before, packed(passing))), order, axis=0)
    while not all_passing[:, -1].any():
        all_passing = all_passing[:, :-1]
    return Walk(
        walk.start,
        np.take(np.concatenate((walk.nodes, nodes)), order),
        all_passing,
        np.take(np.concatenate((walk.mass, mass), axis=1), order, axis=1),
    )


def _distinct(*numbers: IntArray) -> IntArray:
    """All of them once, ascending: sorting is several times as fast as hashing here."""
    ordered: IntArray = np.sort(np.concatenate(numbers))
    return ordered[_is_first(ordered)]


def _is_first(ordered: IntArray) -> NDArray[np.bool_]:
    """Whether each number is the first of its kind."""
    first = np.ones(ordered.size, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    return first
