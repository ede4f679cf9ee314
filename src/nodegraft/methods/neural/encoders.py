"""Graph encoders: a neighbourhood in, one embedding per node out; convolutions and attention."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.errors import ParameterError
from nodegraft.graph.disk.blocks.encode import kept_encoding
from nodegraft.graph.disk.blocks.layer_work import RowMap, RowNetwork
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.view import GraphView


class Encoder(nn.Module):
    """Network that embeds nodes, as trainers and methods see it."""

    column_weights: Tensor | None
    """Weight of each feature column; None leaves features as they are."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("column_weights", None)

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
        """Return embeddings of the nodes at the centre.

        Args:
            neighbourhood: Visible neighbourhood of the nodes, :attr:`hops` steps far.
            dropout: The share of hidden numbers that is dropped, from 0 to below 1.
            generator: Decides which ones; without it nothing is dropped.
        """
        raise NotImplementedError

    def weighted(self, first: Tensor) -> Tensor:
        """Return first-layer weights that also multiply each column by its weight."""
        return first if self.column_weights is None else self.column_weights[:, None] * first

    def row_network(self) -> RowNetwork | None:
        """Return the network without dropout, to embed all nodes in blocks; None where a layer
        does more than spread rows by S and map each."""
        return None


def embed_rows(
    network: Callable[[Neighbourhood], Tensor], view: GraphView, rows: NDArray[np.int64], hops: int
) -> Tensor:
    """Return a network's output for rows in any order, repeats included.

    Where :func:`~nodegraft.graph.disk.blocks.encode.encode` has worked it out for all nodes of a
    graph on disk, rows are read from there, unless gradients are asked for.

    Args:
        network: Gives one row of numbers for each node at the centre of a neighbourhood.
        rows: Row numbers of the nodes; the result has their order.
        hops: How many steps along edges the network needs to see, one for each layer.
    """
    if isinstance(network, Encoder) and not torch.is_grad_enabled():
        kept = _kept(network, view)
        if kept is not None:
            return torch.from_numpy(kept[view.positions(rows)])
    neighbourhood, places = view.around(rows, hops)
    return network(neighbourhood)[torch.from_numpy(places)]


def _kept(encoder: Encoder, view: GraphView) -> Matrix | None:
    # Weights are hashed only for graphs that have a place for what is worked out.
    network = encoder.row_network() if view.kept_layers() is not None else None
    return None if network is None else kept_encoding(view, network)


def apply_dropout(hidden: Tensor, rate: float, generator: np.random.Generator | None) -> Tensor:
    """Apply dropout with an explicit generator.

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
