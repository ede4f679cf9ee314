"""Interface of a graph encoder: a neighbourhood in, one embedding per node out."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.graph.disk.blocks.encode import kept_encoding
from nodegraft.graph.disk.blocks.row_map import RowNetwork
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
