"""What a graph encoder is: a neighbourhood in, one embedding per node out."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.graph.neighbourhood import Neighbourhood
from nodegraft.graph.view import GraphView


class Encoder(nn.Module):
    """What trainers and methods need to know of a network that embeds nodes."""

    @property
    def hops(self) -> int:
        """How many hops around a node its embedding depends on: one a layer."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """How many numbers an embedding has."""
        raise NotImplementedError

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Embeddings of the nodes at the centre.

        Args:
            neighbourhood: What may be seen around the nodes, :attr:`hops` steps far.
            dropout: The share of hidden numbers that is dropped, from 0 to below 1.
            generator: Decides which ones; without it nothing is dropped.
        """
        raise NotImplementedError


def embed_rows(
    network: Callable[[Neighbourhood], Tensor], view: GraphView, rows: NDArray[np.int64], hops: int
) -> Tensor:
    """What a network says of rows in any order, repeats included, from their neighbourhood.

    Args:
        network: Gives one row of numbers for each node at the centre of a neighbourhood.
        view: What may be seen of the graph.
        rows: Row numbers of the nodes; the result has their order.
        hops: How many steps along edges the network needs to see, one for each layer.
    """
    neighbourhood, places = view.around(rows, hops)
    return network(neighbourhood)[torch.from_numpy(places)]


def apply_dropout(hidden: Tensor, rate: float, generator: np.random.Generator | None) -> Tensor:
    """Dropout that draws from a generator of ours.

    torch's own draws from the global generator, which belongs to the user, and its Bernoulli draws
    cost as much here as a sparse product: 16 random bits are enough.

    Args:
        hidden: Numbers of any shape.
        rate: The share that is set to 0, from 0 to below 1; the others are scaled up, so that the
            mean stays.
        generator: Decides which ones; None leaves all as they are.
    """
    if rate == 0.0 or generator is None:
        return hidden
    draws = generator.integers(1 << 16, size=tuple(hidden.shape), dtype=np.uint16)
    kept = torch.from_numpy(draws >= round(rate * (1 << 16)))
    return hidden * kept / (1.0 - rate)
