"""Graph convolutions on the CSR kernel."""

from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

from nodegraft.graph.disk.blocks.row_map import RowMap, RowNetwork
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.methods.neural.encoders.encoder import Encoder, apply_dropout


class GCN(Encoder):
    r"""Graph convolutions :math:`H' = S H W + b` with ReLU between them.

    The same function as PyG's ``GCNConv`` layers, on the CSR kernel of
    :mod:`nodegraft.graph.edges.operator`, which is many times faster here. Weights lie as inputs
    by outputs: the kernel wants its rows together, and so does the optimiser their gradient. Kipf &
    Welling 2017, https://arxiv.org/abs/1609.02907.

    Args:
        sizes: The number of features, then the width of each layer; the last one is the size of an
            embedding.
        generator: Draws the first weights (Xavier, uniform); biases start at 0.
        last_relu: Whether a ReLU follows the last layer, too, as the paper's appendix says.
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
        """Compute layer by layer, from the outermost nodes inwards."""
        hidden: Tensor = neighbourhood.hops[0] @ (
            neighbourhood.features @ self.weighted(self.weights[0])
        )
        hidden = hidden + self.biases[0]
        for layer in range(1, self.hops):
            hidden = apply_dropout(hidden.relu(), dropout, generator)
            hidden = neighbourhood.hops[layer] @ (hidden @ self.weights[layer])
            hidden = hidden + self.biases[layer]
        return hidden.relu() if self.last_relu else hidden

    def row_network(self) -> RowNetwork:
        """Return the layers: weights before the product with S, the bias behind it."""
        first = self.weighted(self.weights[0]).detach().numpy()
        weights = [weight.detach().numpy() for weight in self.weights[1:]]
        *biases, last = (bias.detach().numpy() for bias in self.biases)
        inner = [RowMap(bias, True, weight) for bias, weight in zip(biases, weights, strict=True)]
        return RowNetwork((RowMap(weight=first), *inner, RowMap(last, self.last_relu)), len(first))
