"""Where walks that start at labelled nodes are likely to be: structure, without any feature."""

from collections.abc import Container, Iterator, Sequence
from functools import cached_property
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.files.bundle import Arrays
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.local_walk import FINENESS, LocalWalks, Rules, Walk
from nodegraft.graph.algebra.matrix import IntArray, is_run, located
from nodegraft.graph.algebra.walk_growth import grown_walks
from nodegraft.graph.algebra.walk_shelf import WalkShelf
from nodegraft.graph.stores.shelf import Shelf

Reached = tuple[IntArray, NDArray[np.float32], NDArray[np.float64]]
"""Nodes, ascending; for each restart the mass at each, and the mass in all."""

MOST_STEPS = 100
"""Walks are followed for 3 / restart steps (then 5 % of the mass is still on its way), and no
further than this."""

TOLERANCE = 1e-3
"""A start's walk is no longer followed through a node that it crosses with less than this for each
of the node's edges. So a start touches at most (root of its degree) / TOLERANCE edges a step,
whatever the size of the graph."""

FEWEST_STARTS, MOST_STARTS = 20, 100
"""Smaller and larger sets are followed as far as if they had so many starts: few have less to go
by, and many would be followed everywhere."""

FULL_PASS_ENTRIES = 1_500_000
"""Up to so many entries all is counted: a pass over the whole adjacency for every step. Beyond, it
takes many times as long as following walks, but accuracy can be much lower without it. An edge is
two entries. Results on record are of graphs with fewer."""

CACHED_NUMBERS = 2**26
"""Numbers held at once, in a pass and for another time: a quarter of a gigabyte."""

FOLLOWED_BYTES = 2**29
"""Held of how local walks came about: half a gigabyte. Walks beyond are followed anew when the
graph grows."""

MOST_SIDE_BY_SIDE = 32
"""Sets in one pass: with more, what walks over a small graph no longer stays in a core's cache, and
a set takes twice as long."""


class Diffusion:
    r"""Personalised PageRank mass of sets of nodes, in symmetric form.

    .. math:: m = r \sum_{k < K} (1 - r)^k S^k s

    with restart :math:`r` and :math:`s` the even distribution over a set's nodes; several restarts
    share one pass, as they differ in the sum only. Large graphs are not passed over:
    :math:`D^{1/2} S D^{-1/2}` moves walkers, and those too few to matter are not followed
    (Andersen, Chung & Lang 2006, https://doi.org/10.1109/FOCS.2006.44). Sets met before are looked
    up.

    >>> path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    >>> table = Diffusion(path, [0.5]).table([np.array([0])])
    >>> table.shares(np.array([0, 2])).round(2).tolist()
    [[[2.27], [0.15]]]

    Args:
        adjacency: The edges.
        restarts: The chances, between 0 and 1, that a walk ends at each step.
        full_pass_entries: Up to so many entries of the adjacency all of it is passed over; beyond,
            only what walks reach.
        shelf: Where mass can outlive the process.
    """

    def __init__(
        self,
        adjacency: Adjacency,
        restarts: Sequence[float],
        full_pass_entries: int = FULL_PASS_ENTRIES,
        shelf: Shelf | None = None,
    ) -> None:
        self._adjacency = adjacency
        self._restarts, self._full_pass_entries = tuple(restarts), full_pass_entries
        ended = _shares_ended(restarts)
        self._rules = Rules(TOLERANCE, 1.0 - min(restarts), ended, FEWEST_STARTS, MOST_STARTS)
        self._local = 2 * adjacency.num_edges > full_pass_entries
        place = (shelf or Shelf()).under("walks", list(restarts))
        # A pass over all of the same graph comes to other numbers.
        self._shelf = WalkShelf(place, *(("local", [TOLERANCE, FINENESS]) if self._local else ()))
        self._found: dict[bytes, Reached] = {}
        self._lasting: frozenset[bytes] = frozenset()
        """Sets that a model asked for last: what trials ask for must not drive them out."""
        self._followed: dict[bytes, Walk] = {}
        """How local walks of these came about, for when the graph grows."""
        self._lock = Lock()

    def table(self, starts: Sequence[IntArray], lasting: bool = False) -> "WalkTable":
        """The mass of every set, for looking it up.

        Args:
            starts: Sets of nodes that walks start from, evenly.
            lasting: Whether these will be asked for again: they stay until the next such ones, and
                are put on the shelf.
        """
        return WalkTable(self._reached(starts, lasting), self._adjacency.num_nodes)

    def _reached(self, starts: Sequence[IntArray], lasting: bool = False) -> list[Reached]:
        asked = {start.tobytes(): start for start in starts}
        # Under a lock: what one thread needs must not be forgotten by another.
        with self._lock:
            if lasting:
                self._lasting = frozenset(asked)
            needed = self._lasting | asked.keys()
            self._followed = {name: walk for name, walk in self._followed.items() if name in needed}
            unknown = {name: start for name, start in asked.items() if name not in self._found}
            made = self._spread(list(unknown.values()))
            self._found |= dict(zip(unknown, made, strict=True))
            found = [self._found[start.tobytes()] for start in starts]
            if lasting:
                self._shelf.keep(asked, self._to_keep)
            self._forget(needed)
        return found

    def nearest(
        self, starts: Sequence[IntArray], count: int
    ) -> Iterator[tuple[IntArray, NDArray[np.float64]]]:
        """For every set the nodes with most mass, by the first restart, and the logarithm of it.

        Some more than were asked for where several have as much: to three digits, so that noise of
        summing decides nothing.

        Args:
            starts: Sets of nodes that walks start from, evenly; they are left out.
            count: How many nodes of each.
        """
        for start, (nodes, mass, _) in zip(starts, self._reached(starts), strict=True):
            others = (mass[0] > 0) & ~np.isin(nodes, start)
            logs = np.log(mass[0, others].astype(np.float64)).round(3)
            some = nodes[others]
            if some.size > count:
                kept = logs >= np.partition(logs, some.size - count)[some.size - count]
                some, logs = some[kept], logs[kept]
            yield some, logs

    def _spread(self, starts: Sequence[IntArray]) -> Iterator[Reached]:
        if self._local:
            yield from map(self._walk, starts)
            return
        kept = [self._shelf.get(start) for start in starts]
        made = self._passes([start for start, one in zip(starts, kept, strict=True) if not one])
        everyone = np.arange(self._adjacency.num_nodes)
        for one in kept:
            yield _reached(everyone, one["mass"] if one else next(made))

    def _to_keep(self, name: bytes) -> Arrays:
        nodes, mass, _ = self._found[name]
        return {"nodes": nodes, "mass": mass} if self._local else {"mass": mass}

    def _passes(self, starts: Sequence[IntArray]) -> Iterator[NDArray[np.float32]]:
        fit = CACHED_NUMBERS // (self._adjacency.num_nodes * len(self._rules.ended))
        some = min(max(1, fit), MOST_SIDE_BY_SIDE)
        for first in range(0, len(starts), some):
            yield from self._pass(starts[first : first + some])

    def _forget(self, needed: Container[bytes]) -> None:
        """The sets that were met first, where too much is held."""
        held = sum(mass.size for _, mass, _ in self._found.values())
        for name in list(self._found):
            if held > CACHED_NUMBERS and name not in needed:
                held -= self._found.pop(name)[1].size

    def _pass(self, starts: Sequence[IntArray]) -> list[NDArray[np.float32]]:
        """Sets side by side over the whole graph: for each the mass, restarts x nodes."""
        walking = np.zeros((self._adjacency.num_nodes, len(starts)), dtype=np.float32)
        for column, start in enumerate(starts):
            walking[start, column] = 1.0 / start.size
        total = np.zeros((len(self._rules.ended), *walking.shape), dtype=np.float32)
        for step, shares in enumerate(self._rules.ended.T):
            if step:
                # SciPy's product: in torch's, bits of a column depend on how many others there are.
                walking = self._adjacency.normalised @ walking
            for mass, share in zip(total, shares, strict=True):
                if share:
                    mass += np.float32(share) * walking
        # Copies, so that forgetting one set frees it.
        return [np.ascontiguousarray(total[:, :, column]) for column in range(len(starts))]

    def _walk(self, start: IntArray) -> Reached:
        """One set, looking at no more of the graph than its walkers reach."""
        kept = self._shelf.get(start)
        if kept is not None:
            return _reached(kept["nodes"], kept["mass"])
        walk = self._walks.walk(start)
        held = sum(one.passing.nbytes for one in self._followed.values())
        if held + walk.passing.nbytes <= FOLLOWED_BYTES:
            self._followed[start.tobytes()] = walk
        return _reached(walk.nodes, walk.mass)

    @cached_property
    def _walks(self) -> LocalWalks:
        return LocalWalks(self._adjacency, self._rules)

    def with_shelf(self, shelf: Shelf) -> "Diffusion":
        """The same with another shelf, and all that was met.

        Args:
            shelf: Where mass can outlive the process.
        """
        same = Diffusion(self._adjacency, self._restarts, self._full_pass_entries, shelf)
        with self._lock:
            same._found, same._followed = dict(self._found), dict(self._followed)
            same._lasting = self._lasting
        return same

    def grown(self, adjacency: Adjacency, changed: IntArray, shelf: Shelf) -> "Diffusion":
        """The same of a graph that has grown; of the walks of sets only what differs is followed.

        Args:
            adjacency: The edges now.
            changed: The nodes whose edges are others, ascending.
            shelf: Where mass can outlive the process.
        """
        child = Diffusion(adjacency, self._restarts, self._full_pass_entries, shelf)
        if not (self._local and child._local):
            return child
        with self._lock:
            found, followed = dict(self._found), dict(self._followed)
            child._lasting = self._lasting
        met = {name for name, (nodes, *_) in found.items() if located(nodes, changed)[1].any()}
        child._found = {name: one for name, one in found.items() if name not in met}
        child._followed = {name: one for name, one in followed.items() if name not in met}
        again = [name for name in followed if name in met]
        walks = [followed[name] for name in again]
        made = grown_walks(walks, self._adjacency, adjacency, changed, self._rules)
        for name, walk in zip(again, made, strict=True):
            if walk is not None:
                child._found[name] = _reached(walk.nodes, walk.mass)
                child._followed[name] = walk
        return child


class WalkTable:
    """How much of the walks from some sets is where.

    Args:
        reached: For every set.
        num_nodes: How many nodes there are.
    """

    def __init__(self, reached: Sequence[Reached], num_nodes: int) -> None:
        self._reached = reached
        self.num_nodes = num_nodes
        """How many nodes there are."""
        self.totals = np.stack([total for _, _, total in reached], axis=1)
        """The mass in all: restarts x sets."""
        self.meets_all = all(nodes.size == num_nodes for nodes, _, _ in reached)
        """Whether walks of every set come to every node, as after a pass over all."""

    def of(self, columns: IntArray) -> "WalkTable":
        """The same for some of the sets.

        Args:
            columns: Where they stand.
        """
        return WalkTable([self._reached[column] for column in columns], self.num_nodes)

    def mass(self, nodes: IntArray) -> NDArray[np.float64]:
        """The mass at some nodes: restarts x nodes x sets.

        Args:
            nodes: Node numbers.
        """
        if self.meets_all:
            return self.everywhere(nodes).transpose(1, 2, 0).astype(np.float64, order="C")
        found = np.zeros((len(self.totals), nodes.size, len(self._reached)))
        for column, (places, mass) in enumerate(self.met(nodes)):
            found[:, places, column] = mass
        return found

    def everywhere(self, nodes: IntArray, sets: slice = slice(None)) -> NDArray[np.float32]:
        """The mass where :attr:`meets_all`, sets x restarts x nodes: numbers are places.

        Args:
            nodes: Node numbers.
            sets: Which sets.
        """
        if is_run(nodes):
            between = slice(nodes[0], nodes[-1] + 1)
            return np.stack([mass[:, between] for _, mass, _ in self._reached[sets]])
        return np.stack([mass.take(nodes, axis=1) for _, mass, _ in self._reached[sets]])

    def met(self, nodes: IntArray) -> Iterator[tuple[IntArray, NDArray[np.float32]]]:
        """For each set which of some nodes its walks come to, and the mass there: restarts x nodes.

        Args:
            nodes: Node numbers.
        """
        in_a_run = is_run(nodes)
        for met, mass, _ in self._reached:
            if in_a_run:
                first, last = np.searchsorted(met, (nodes[0], nodes[-1] + 1))
                yield met[first:last] - nodes[0], mass[:, first:last]
            else:
                place, is_met = located(met, nodes)
                found = np.flatnonzero(is_met)
                yield found, mass.take(place[found], axis=1)

    def shares(self, nodes: IntArray) -> NDArray[np.float64]:
        """The same against an even spread of it: 1 where a node has its share.

        Args:
            nodes: Node numbers.
        """
        return self.mass(nodes) / (self.totals / self.num_nodes)[:, None]


def _shares_ended(restarts: Sequence[float]) -> NDArray[np.float64]:
    """Which share of walks ends at each step: restarts x steps."""
    steps = [min(round(3 / restart), MOST_STEPS) for restart in restarts]
    shares = np.zeros((len(restarts), max(steps)))
    for row, restart, count in zip(shares, restarts, steps, strict=True):
        row[:count] = restart * (1.0 - restart) ** np.arange(count)
    return shares


def _reached(nodes: IntArray, mass: NDArray[np.float32]) -> Reached:
    # Summed here once: a set is looked up in every block of every scoring.
    return nodes, mass, mass.sum(axis=1, dtype=np.float64)
