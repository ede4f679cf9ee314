"""Graph encoders that embed nodes from their neighbourhood: graph convolutions and attention."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.base.errors import ParameterError
from nodegraft.graph.disk.blocks.encode import stored_encoding
from nodegraft.graph.disk.blocks.layer_work import RowMap, RowNetwork
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.operator import Neighbourhood
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.batches import embed_in_batches
from nodegraft.methods.neural.device import CPU, device_of, to_tensor


class Encoder(nn.Module):
    """Base class of networks that embed nodes."""

    column_weights: Tensor | None
    """Weight of each feature column; None for weights of 1."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("column_weights", None)

    @property
    def hops(self) -> int:
        """Number of hops around a node that its embedding depends on: one per layer."""
        raise NotImplementedError

    @property
    def size(self) -> int:
        """Width of an embedding."""
        raise NotImplementedError

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Return embeddings of the centre nodes of a neighbourhood.

        Args:
            dropout: Dropout rate of hidden values, from 0 to below 1.
            generator: Random generator for dropout; None disables dropout.
        """
        raise NotImplementedError

    def weighted(self, first: Tensor) -> Tensor:
        """Return first-layer weights multiplied by the weights of the feature columns.

        Args:
            first: Weights of the first layer.
        """
        return first if self.column_weights is None else self.column_weights[:, None] * first

    def row_network(self) -> RowNetwork | None:
        """Return the network without dropout, in a form that embeds all nodes in blocks.

        It is None if a layer does more than multiply by the propagation matrix S and map each row.
        """
        return None


def embed_rows(
    network: Callable[[Neighbourhood], Tensor], view: GraphView, rows: NDArray[np.int64], hops: int
) -> Tensor:
    """Return a network's output for nodes in any order, possibly with duplicates.

    If :func:`~nodegraft.graph.disk.blocks.encode.encode` has cached the output for all nodes of a
    graph on disk, rows are read from the cache, unless gradients are enabled.

    Args:
        network: Function that returns one row for each centre node of a neighbourhood.
        rows: Row numbers of the nodes; the result has their order.
        hops: Number of hops that the network needs, one for each layer.
    """
    if isinstance(network, Encoder) and not torch.is_grad_enabled():
        stored_rows = _stored_embeddings(network, view)
        if stored_rows is not None:
            return to_tensor(stored_rows[view.positions(rows)], device_of(network))

    def embed(part: NDArray[np.int64]) -> Tensor:
        neighbourhood, places = view.around(part, hops)
        embedded = network(neighbourhood)
        return embedded[to_tensor(places, embedded.device)]

    return embed_in_batches(view, rows, embed)


def _stored_embeddings(encoder: Encoder, view: GraphView) -> Matrix | None:
    # Compute the hash of the weights only if the graph has a cache for layers.
    network = encoder.row_network() if view.layer_folder() is not None else None
    return None if network is None else stored_encoding(view, network)


def apply_dropout(hidden: Tensor, rate: float, generator: np.random.Generator | None) -> Tensor:
    """Apply dropout with an explicit generator.

    PyTorch's dropout uses the global random generator, which belongs to the user. Its random draws
    are also as slow here as a sparse product; this function needs only 16 random bits per value.

    Args:
        rate: Share of values that is set to 0, from 0 to below 1. The others are scaled up to keep
            the mean.
        generator: Random generator; None disables dropout.
    """
    if rate == 0.0 or generator is None:
        return hidden
    draws = generator.integers(1 << 16, size=tuple(hidden.shape), dtype=np.uint16)
    is_kept = to_tensor(draws >= round(rate * (1 << 16)), hidden.device)
    return hidden * is_kept / (1.0 - rate)


class GCN(Encoder):
    r"""Graph convolutions :math:`H' = S H W + b` with ReLU between them.

    It computes the same function as PyG's ``GCNConv`` layers, with the CSR kernel of
    :mod:`nodegraft.graph.edges.operator`, which is many times faster here. Weight matrices are
    stored as inputs x outputs, because the kernel and the optimiser need contiguous rows. Kipf &
    Welling 2017, https://arxiv.org/abs/1609.02907.

    Args:
        sizes: Number of features, then the width of each layer; the last is the size of an
            embedding.
        generator: Random generator for the initial weights (Xavier, uniform); biases start at 0.
        last_relu: Whether a ReLU follows the last layer, too, as in the paper's appendix.
    """

    def __init__(
        self, sizes: list[int], generator: torch.Generator, last_relu: bool = False
    ) -> None:
        super().__init__()
        self.last_relu = last_relu
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for inside, outside in pairwise(sizes):
            weight = torch.empty(inside, outside, device=CPU)
            nn.init.xavier_uniform_(weight, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(torch.zeros(outside, device=CPU)))

    @property
    def hops(self) -> int:
        """Number of hops: one per layer."""
        return len(self.weights)

    @property
    def size(self) -> int:
        """Width of an embedding: the width of the last layer."""
        return len(self.biases[-1])

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Return embeddings of the centre nodes, computed from the outermost nodes inwards."""
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
        """Return the layers for embedding in blocks: weights, product with S, then bias."""
        first = self.weighted(self.weights[0]).detach().cpu().numpy()
        weights = [weight.detach().cpu().numpy() for weight in self.weights[1:]]
        *biases, last = (bias.detach().cpu().numpy() for bias in self.biases)
        inner = [RowMap(bias, True, weight) for bias, weight in zip(biases, weights, strict=True)]
        return RowNetwork((RowMap(weight=first), *inner, RowMap(last, self.last_relu)), len(first))


class GAT(Encoder):
    r"""Graph attention :math:`h_i' = \Vert_m \sum_{j \in N(i) \cup i} \alpha^m_{ij} W^m h_j + b`.

    Each layer is PyG's ``GATConv``, with ELU between layers. This class stores the weight matrices
    as inputs x outputs and multiplies by them before the convolution, because the features are
    sparse. Dropout applies to the values between layers, but not to attention coefficients, for
    which PyG would use the global random generator. Veličković et al. 2018,
    https://arxiv.org/abs/1710.10903.

    Args:
        sizes: Number of features, then the width of each layer; the last is the size of an
            embedding.
        heads: Number of attention heads of each layer. Their outputs are concatenated to the
            layer's width, which must be a multiple of this number.
        generator: Random generator for the initial weights (Xavier, uniform); biases start at 0.
    """

    def __init__(self, sizes: list[int], heads: list[int], generator: torch.Generator) -> None:
        super().__init__()
        # This import takes two seconds, and only graph attention needs it.
        from torch_geometric.nn import GATConv

        self.weights, self.layers = nn.ParameterList(), nn.ModuleList()
        for (inside, outside), count in zip(pairwise(sizes), heads, strict=True):
            if outside % count:
                raise ParameterError(f"{count} heads cannot share {outside} numbers evenly.")
            weight = torch.empty(inside, outside, device=CPU)
            nn.init.xavier_uniform_(weight, generator=generator)
            self.weights.append(nn.Parameter(weight))
            with torch.random.fork_rng(devices=[]):
                layer = GATConv(1, outside // count, heads=count, add_self_loops=False)
            layer.lin = nn.Identity()
            for vectors in (layer.att_src, layer.att_dst):
                nn.init.xavier_uniform_(vectors.data[0], generator=generator)
            self.layers.append(layer)

    @property
    def hops(self) -> int:
        """Number of hops: one per layer."""
        return len(self.weights)

    @property
    def size(self) -> int:
        """Width of an embedding: the width of the last layer."""
        return int(self.weights[-1].shape[1])

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Return embeddings of the centre nodes, computed from the outermost nodes inwards."""
        hidden: Tensor = neighbourhood.features @ self.weighted(self.weights[0])
        for number, layer in enumerate(self.layers):
            if number:
                hidden = apply_dropout(F.elu(hidden), dropout, generator) @ self.weights[number]
            # Entries of the operator are (target, source) pairs and include self loops. A ring
            # contains the nodes within a number of hops; each ring is a sorted subset of the next
            # larger ring.
            targets, sources = neighbourhood.hops[number].coordinates
            outer, inner = neighbourhood.rings[number : number + 2]
            places = to_tensor(np.searchsorted(outer, inner), hidden.device)
            edges = to_tensor(np.stack((sources, targets)), hidden.device)
            hidden = layer((hidden, hidden[places]), edges)
        return hidden
