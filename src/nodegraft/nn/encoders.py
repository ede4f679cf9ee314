"""Graph encoders: a neighbourhood in, one embedding per node out."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.graph.view import GraphView, Neighbourhood


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


class GCN(Encoder):
    r"""Graph convolutions :math:`H' = S H W + b` with ReLU between them.

    ``last_relu`` puts one behind the last layer too, as the paper's appendix says.

    The same function as PyG's ``GCNConv`` layers, on the CSR kernel of
    :mod:`nodegraft.graph.operator`, which is many times faster here. Weights lie as inputs by
    outputs: the kernel wants its rows together, and so does the optimiser their gradient. Kipf &
    Welling 2017, https://arxiv.org/abs/1609.02907.
    """

    def __init__(
        self, sizes: list[int], generator: torch.Generator, last_relu: bool = False
    ) -> None:
        super().__init__()
        self.last_relu = last_relu
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for inside, outside in pairwise(sizes):
            weight = torch.empty(inside, outside)
            nn.init.xavier_uniform_(weight, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(outside)))

    @property
    def hops(self) -> int:
        """One a layer."""
        return len(self.weights)

    @property
    def size(self) -> int:
        """The width of the last layer."""
        return len(self.biases[-1])

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Layer by layer, from the outermost nodes inwards."""
        hidden: Tensor = neighbourhood.hops[0] @ (neighbourhood.features @ self.weights[0])
        hidden = hidden + self.biases[0]
        for layer in range(1, self.hops):
            hidden = drop(hidden.relu(), dropout, generator)
            hidden = neighbourhood.hops[layer] @ (hidden @ self.weights[layer])
            hidden = hidden + self.biases[layer]
        return hidden.relu() if self.last_relu else hidden


def embed_rows(
    network: Callable[[Neighbourhood], Tensor], view: GraphView, rows: NDArray[np.int64], hops: int
) -> Tensor:
    """What a network says of rows in any order, repeats included, from their neighbourhood."""
    neighbourhood, places = view.around(rows, hops)
    return network(neighbourhood)[torch.from_numpy(places)]


def drop(hidden: Tensor, rate: float, generator: np.random.Generator | None) -> Tensor:
    """Dropout that draws from a generator of ours.

    torch's own draws from the global generator, which belongs to the user, and its Bernoulli draws
    cost as much here as a sparse product: 16 random bits are enough.
    """
    if rate == 0.0 or generator is None:
        return hidden
    draws = generator.integers(1 << 16, size=tuple(hidden.shape), dtype=np.uint16)
    kept = torch.from_numpy(draws >= round(rate * (1 << 16)))
    return hidden * kept / (1.0 - rate)
