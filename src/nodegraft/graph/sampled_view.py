"""View of a graph for training on parts of it: neighbourhoods are sampled around seed nodes."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.sampling import ALL, NeighbourSampler
from nodegraft.graph.view import GraphView


class SampledView(GraphView):
    """View in which the neighbourhood of some rows has a sample of the neighbours at each hop.

    Degrees and normalisation are those of the whole view. The view shares its caches.

    Args:
        view: View to sample from.
        batch: Number of seed nodes of a batch.
        fan_out: Maximum number of neighbours of a node at each hop; -1 for all.
        seed: Seed of all random draws.
        epoch: Number of the epoch or training step; each has its own random draws.
        rank: Number of this process among those that share the batches.
        world_size: Number of processes that share the batches.
    """

    def __init__(
        self,
        view: GraphView,
        batch: int,
        fan_out: int,
        seed: int,
        epoch: int = 0,
        *,
        rank: int = 0,
        world_size: int = 1,
    ) -> None:
        vars(self).update(vars(view))
        self.batch = batch
        """Number of seed nodes of a batch, of all processes together."""
        self.fan_out = fan_out
        """Maximum number of neighbours of a node at each hop; -1 for all."""
        self.rank = rank
        """Number of this process among those that share the batches."""
        self.world_size = world_size
        """Number of processes that share the batches."""
        self._seed, self._epoch = seed, epoch

    def at(self, epoch: int) -> "SampledView":
        """Return the view with the random draws of another epoch."""
        return self._like(self, epoch)

    def sampling(self, view: GraphView) -> "SampledView":
        """Return another view that is sampled in the same way."""
        return self._like(view, self._epoch)

    def _like(self, view: GraphView, epoch: int) -> "SampledView":
        ranks = {"rank": self.rank, "world_size": self.world_size}
        return SampledView(view, self.batch, self.fan_out, self._seed, epoch, **ranks)

    def part(self, count: int) -> slice:
        """Return which of some rows this process computes; the others compute the rest.

        Args:
            count: Number of rows.
        """
        ends = [count * rank // self.world_size for rank in (self.rank, self.rank + 1)]
        return slice(*ends)

    def batches(self, rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield rows in batches of at most :attr:`batch` rows; a single batch if there are none."""
        for start in range(0, max(rows.size, 1), self.batch):
            yield rows[start : start + self.batch]

    def _hop(self, nodes: IntArray, number: int, hops: int) -> tuple["csr_array[Any]", IntArray]:
        if self.fan_out == ALL:
            return super()._hop(nodes, number, hops)
        sampler = NeighbourSampler((self.fan_out,) * hops, self._seed, self._epoch)
        return sampler.spreading(self._cache.spreading, nodes, number)
