"""A classifier of prototypes that evolves with the classes, on an encoder that stays."""

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.attention.prototype import PrototypeAttention
from nodegraft.methods.neural.encoders.encoder import Encoder
from nodegraft.methods.neural.learners.learner import EpisodeLoss
from nodegraft.methods.neural.learners.prototypes import PrototypeLearner
from nodegraft.methods.neural.prototypes import cosines
from nodegraft.streams.episodes.episode import Episode


class EvolvedClassifier(PrototypeLearner):
    """Class means, adapted to each other by attention, compared by cosine.

    Its memory is the plain means: the attention over all of them is run anew for every score, so
    every class is adapted to all that have arrived by then.

    Args:
        encoder: Embeds the nodes; it is frozen.
        temperature: What cosines are multiplied by, above 0; larger values make the softmax
            sharper.
        generator: Draws the first weights of the attention.
    """

    def __init__(self, encoder: Encoder, temperature: float, generator: torch.Generator) -> None:
        super().__init__(encoder.requires_grad_(False))
        self.temperature = temperature
        self.attention = PrototypeAttention(encoder.size, generator)

    def loss(self, view: GraphView, episode: Episode) -> EpisodeLoss:
        """Cross-entropy of the queries over the classes of all tasks."""
        means = self.learn(view, episode.support, None)
        scores = self.score(view, episode.query.rows(), means)
        return EpisodeLoss(F.cross_entropy(scores, torch.from_numpy(episode.targets)))

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: Tensor) -> Tensor:
        """Cosine to each adapted prototype, times the temperature."""
        return self.temperature * cosines(self.embed(view, rows), self.attention(memory))
