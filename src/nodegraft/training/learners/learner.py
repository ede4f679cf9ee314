"""What meta-training needs to know of a network: a loss on episodes, and how it meets classes."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.episodes.episode import Episode
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.nn.encoders.encoder import Encoder, embed_rows

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class EpisodeLoss:
    """The loss of an episode."""

    loss: Tensor

    def numbers(self) -> dict[str, float]:
        """What else a progress bar may want to show."""
        return {}


class Learner(nn.Module, Generic[Kept]):
    """A network around an encoder that learns classes by what it keeps of them.

    ``learn`` and ``score`` are all of a session, in a rehearsal as in real life.
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def embed(self, view: GraphView, rows: NDArray[np.int64]) -> Tensor:
        """Embeddings of rows, in their order, from their neighbourhood alone."""
        return embed_rows(self.encoder, view, rows, self.encoder.hops)

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """The loss of one episode; the first task has many labels, the others few."""
        raise NotImplementedError

    def learn(self, view: GraphView, support: NodeLabels, before: Kept | None) -> Kept:
        """What it keeps after these classes; the first ones have many labels."""
        raise NotImplementedError

    def score(self, view: GraphView, rows: NDArray[np.int64], kept: Kept) -> Tensor:
        """One row per node, one column per class in the order learned."""
        raise NotImplementedError
