"""Interface of networks for meta-training: a loss on episodes, and methods to learn classes."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders import Encoder, embed_rows
from nodegraft.streams.episodes.episode import Episode

Memory = TypeVar("Memory")
"""Data that a learner stores about learned classes, such as one prototype for each class."""


@dataclass(frozen=True)
class EpisodeLoss:
    """Loss of an episode."""

    loss: Tensor
    """Loss as one number, differentiable with respect to the network's weights."""

    def metrics(self) -> dict[str, float]:
        """Return additional metrics by name, for progress output."""
        return {}


class Learner(nn.Module, Generic[Memory]):
    """Base class of networks around an encoder that learn classes from their supports.

    A session, real or in a rehearsal, is one call of :meth:`learn` and one call of :meth:`score`.

    Args:
        encoder: Encoder of the nodes; it is trained with the network.
    """

    noise: np.random.Generator | None = None
    """Random generator of the dropout in episodes; None if the network draws nothing."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def embed(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return embeddings of nodes; only their neighbourhood is computed.

        Args:
            rows: Row numbers of the nodes, in any order; the result has the same order.
        """
        return embed_rows(self.encoder, view, rows, self.encoder.hops)

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the loss of one episode, whose first task has many labels per class."""
        raise NotImplementedError

    def learn(self, view: GraphView, support: NodeLabels, memory: Memory | None) -> Memory:
        """Return the memory of the network after learning new classes.

        Args:
            memory: Memory of earlier classes; None for the first classes. The first classes have
                many labels, later classes have few.
        """
        raise NotImplementedError

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: Memory) -> Tensor:
        """Return scores: one row per node, one column per class in the order learned.

        Args:
            rows: Row numbers of the nodes, in any order; the result has the same order.
        """
        raise NotImplementedError
