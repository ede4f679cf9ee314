"""Interface of meta-training: a loss on episodes, and a way to learn new classes."""

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
"""What a learner keeps of the classes it has learned, such as one prototype for each."""


@dataclass(frozen=True)
class EpisodeLoss:
    """The loss of an episode."""

    loss: Tensor
    """One number, differentiable with respect to the network's weights."""

    def metrics(self) -> dict[str, float]:
        """Return further numbers by name for progress bars."""
        return {}


class Learner(nn.Module, Generic[Memory]):
    """A network around an encoder that learns classes from their supports.

    A session is one call of :meth:`learn` and one of :meth:`score`, in a rehearsal as in use.

    Args:
        encoder: Embeds the nodes; it is trained with the network.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def embed(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Return embeddings of nodes from their neighbourhood alone.

        Args:
            rows: Row numbers of the nodes, in any order; the result has the same.
        """
        return embed_rows(self.encoder, view, rows, self.encoder.hops)

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Return the loss of one episode.

        Args:
            episode: Its first task has many labels a class, the others few.
        """
        raise NotImplementedError

    def learn(self, view: GraphView, support: NodeLabels, memory: Memory | None) -> Memory:
        """Return the memory of the network after learning these classes.

        Args:
            memory: What it kept of earlier classes; None if these are the first. First classes
                have many labels, later ones few.
        """
        raise NotImplementedError

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: Memory) -> Tensor:
        """Return one row per node, one column per class in the order learned.

        Args:
            rows: Row numbers of the nodes, in any order; the result has the same.
        """
        raise NotImplementedError
