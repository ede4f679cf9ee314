"""A graph attention encoder: PyG's layers on our neighbourhoods."""

from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.methods.neural.encoders.encoder import Encoder, apply_dropout


class GAT(Encoder):
    r"""Graph attention :math:`h_i' = \Vert_m \sum_{j \in N(i) \cup i} \alpha^m_{ij} W^m h_j + b`.

    Each layer is PyG's ``GATConv``, with ELU between layers. The weights are held here, inputs by
    outputs, because the features are sparse and multiply the first one as an operator; the
    convolution gets what comes out. Dropout falls on what goes from layer to layer, not on
    attention coefficients, which PyG would draw from the global generator. Veličković et al. 2018,
    https://arxiv.org/abs/1710.10903.

    Args:
        sizes: The number of features, then the width of each layer; the last one is the size of an
            embedding.
        heads: How many attention heads each layer has. They are laid side by side to the layer's
            width, which must be a multiple of their number.
        generator: Draws the first weights (Xavier, uniform); biases start at 0.
    """

    def __init__(self, sizes: list[int], heads: list[int], generator: torch.Generator) -> None:
        super().__init__()
        # Importing it takes two seconds: only those who want graph attention pay for it.
        from torch_geometric.nn import GATConv

        self.weights, self.layers = nn.ParameterList(), nn.ModuleList()
        for (inside, outside), count in zip(pairwise(sizes), heads, strict=True):
            if outside % count:
                raise ParameterError(f"{count} heads cannot share {outside} numbers evenly.")
            weight = nn.init.xavier_uniform_(torch.empty(inside, outside), generator=generator)
            self.weights.append(nn.Parameter(weight))
            with torch.random.fork_rng(devices=[]):
                layer = GATConv(1, outside // count, heads=count, add_self_loops=False)
            layer.lin = nn.Identity()
            for vectors in (layer.att_src, layer.att_dst):
                nn.init.xavier_uniform_(vectors.data[0], generator=generator)
            self.layers.append(layer)

    @property
    def hops(self) -> int:
        """One a layer."""
        return len(self.weights)

    @property
    def size(self) -> int:
        """The width of the last layer."""
        return int(self.weights[-1].shape[1])

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Compute layer by layer, from the outermost nodes inwards."""
        hidden: Tensor = neighbourhood.features @ self.weighted(self.weights[0])
        for number, layer in enumerate(self.layers):
            if number:
                hidden = apply_dropout(F.elu(hidden), dropout, generator) @ self.weights[number]
            # An operator's entries are (target, source), self loops among them; a ring is a
            # sorted part of the one outside it.
            targets, sources = neighbourhood.hops[number].coordinates
            outer, inner = neighbourhood.rings[number : number + 2]
            places = torch.from_numpy(np.searchsorted(outer, inner))
            edges = torch.from_numpy(np.stack((sources, targets)))
            hidden = layer((hidden, hidden[places]), edges)
        return hidden
