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
        """How far it looks: one hop a layer."""
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
        """Embeddings of the nodes at the centre; without a generator nothing is dropped."""
        raise NotImplementedError


def embed_rows(
    network: Callable[[Neighbourhood], Tensor], view: GraphView, rows: NDArray[np.int64], hops: int
) -> Tensor:
    """What a network says of rows in any order, repeats included, from their neighbourhood."""
    neighbourhood, places = view.around(rows, hops)
    return network(neighbourhood)[torch.from_numpy(places)]


def apply_dropout(hidden: Tensor, rate: float, generator: np.random.Generator | None) -> Tensor:
    """Dropout that draws from a generator of ours.

    torch's own draws from the global generator, which belongs to the user, and its Bernoulli draws
    cost as much here as a sparse product: 16 random bits are enough.
    """
    if rate == 0.0 or generator is None:
        return hidden
    draws = generator.integers(1 << 16, size=tuple(hidden.shape), dtype=np.uint16)
    kept = torch.from_numpy(draws >= round(rate * (1 << 16)))
    return hidden * kept / (1.0 - rate)
