"""Uniform sampling of neighbours without replacement, with random numbers by counter.

A random number is a hash of seed, epoch, hop, node and number of the draw, and not the state of a
generator. So the sampled neighbours of a node do not depend on the other nodes of a batch, on the
order of batches, on the number of processes, or on where an interrupted run resumed.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import Range
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Weights
from nodegraft.graph.edges.matrix import IntArray

ALL = -1
"""Fan-out that takes all neighbours."""

FanOut: TypeAlias = Annotated[int, Range(ALL)]
"""Maximum number of neighbours of a node that are sampled; -1 for all."""

Hashes: TypeAlias = NDArray[np.uint64]

_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class NeighbourSampler:
    """Sampler of neighbours for each hop from some nodes.

    >>> star = Adjacency.from_edges(np.zeros(9, dtype=int), np.arange(1, 10), 10)
    >>> sampler = NeighbourSampler((3, 3), seed=5)
    >>> counts, neighbours, _ = sampler.neighbours(star, np.array([0, 4]), hop=0)
    >>> counts.tolist(), neighbours.size, neighbours.tolist()[-1]
    ([3, 1], 4, 0)
    """

    fan_outs: tuple[int, ...]
    """Maximum number of neighbours for each hop, first hop from the requested nodes first."""

    seed: int = 0
    """Seed of all random draws."""

    epoch: int = 0
    """Number of the epoch or training step; each has its own random draws."""

    def __post_init__(self) -> None:
        if not self.fan_outs or any(fan_out < ALL for fan_out in self.fan_outs):
            raise ParameterError(
                "A fan-out for each hop is needed, a whole number at least 0, or -1 for all "
                f"neighbours, and not {list(self.fan_outs)}."
            )
        for name, number in (("seed", self.seed), ("epoch", self.epoch)):
            if not 0 <= number < 1 << 63:
                raise ParameterError(
                    f"The {name} of a sampler is a whole number from 0 to 2**63 - 1, not {number}."
                )

    def at(self, epoch: int) -> "NeighbourSampler":
        """Return a sampler with the random draws of another epoch."""
        return replace(self, epoch=epoch)

    def neighbours(
        self, adjacency: Adjacency, nodes: IntArray, hop: int
    ) -> tuple[IntArray, IntArray, Weights | None]:
        """Return counts, sampled neighbours and weights of their edges, node by node.

        The neighbours of a node are ascending. Weights are None if all are 1.

        Args:
            adjacency: Edges, in memory or on disk; only the sampled entries are read.
            hop: Number of the hop; 0 for the requested nodes.
        """
        key = np.zeros(1, dtype=np.uint64)
        for number in (self.seed, self.epoch, hop):
            key = _mixed(key + np.uint64(number))
        counts, slots = sampled_slots(adjacency.degrees(nodes), nodes, self.fan_outs[hop], key)
        return counts, *adjacency.neighbours_at(nodes, counts, slots)

    def spreading(
        self, adjacency: Adjacency, targets: IntArray, hop: int
    ) -> tuple["csr_array[Any]", IntArray]:
        r"""Return an estimate of rows of ``S``, and the nodes of its columns.

        It is like :meth:`~nodegraft.graph.edges.adjacency.Adjacency.hop`, but has the entries of
        sampled neighbours only. The normalisation uses the degrees of the whole graph, and an entry
        of a node with :math:`d` neighbours, of which :math:`k` are sampled, is multiplied by
        :math:`d / k`. So the estimate is unbiased, and exact if all neighbours are taken.

        Args:
            targets: Node numbers of the rows, unique and ascending.
            hop: Number of the hop; 0 for the requested nodes.
        """
        counts, neighbours, weights = self.neighbours(adjacency, targets, hop)
        degrees = adjacency.degrees(targets)
        if (counts < degrees).any():
            scales = np.repeat(degrees / np.maximum(counts, 1), counts).astype(np.float32)
            weights = scales if weights is None else scales * weights
        return adjacency.hop_to(targets, counts, neighbours, weights)


def sampled_slots(
    degrees: IntArray, nodes: IntArray, fan_out: int, key: Hashes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw positions in the neighbour list of each node, uniformly and without replacement.

    >>> key = np.array([1], dtype=np.uint64)
    >>> counts, slots = sampled_slots(np.array([2, 9]), np.array([7, 8]), 3, key)
    >>> counts.tolist(), slots[:2].tolist(), len(set(slots[2:].tolist()))
    ([2, 3], [0, 1], 3)

    Args:
        degrees: Number of neighbours of each node.
        fan_out: Maximum number of positions for each node; -1 for all.
        key: Hash of everything else that random draws depend on.

    Returns:
        Number of positions of each node, and the positions node by node, ascending for each.
    """
    limits = degrees.astype(np.int64)
    counts = limits if fan_out == ALL else np.minimum(limits, fan_out)
    starts = np.cumsum(counts) - counts
    slots = np.arange(counts.sum()) - np.repeat(starts, counts)
    many = np.flatnonzero(limits > counts)
    if many.size and fan_out:
        draws = _distinct_draws(limits[many], nodes[many].astype(np.uint64), fan_out, key)
        slots[starts[many][:, None] + np.arange(fan_out)] = draws
    return counts, slots


def _distinct_draws(
    limits: NDArray[np.int64], nodes: Hashes, count: int, key: Hashes
) -> NDArray[np.int64]:
    """Draw ``count`` distinct numbers below each limit, ascending, by Floyd's algorithm.

    Its time does not depend on the limits, so a node with a million neighbours costs as much as one
    with twenty. Bentley & Floyd 1987, https://doi.org/10.1145/30401.315746.
    """
    drawn = np.empty((limits.size, count), dtype=np.int64)
    own = _mixed(nodes * _STEP + key)
    for number in range(count):
        last = limits - count + number
        bits = _mixed(own + np.uint64(number)) >> np.uint64(32)
        value = ((bits * (last + 1).astype(np.uint64)) >> np.uint64(32)).astype(np.int64)
        is_taken = (drawn[:, :number] == value[:, None]).any(axis=1)
        drawn[:, number] = np.where(is_taken, last, value)
    drawn.sort(axis=1)
    return drawn


def _mixed(numbers: Hashes) -> Hashes:
    """Hash 64-bit numbers (the SplitMix64 generator), so that close numbers give unlike hashes."""
    mixed = numbers + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
