"""Prototypes that adapt to each other by attention, on a frozen encoder."""

import math

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from nodegraft.graph.view import GraphView
from nodegraft.methods.neural.encoders.encoder import Encoder
from nodegraft.methods.neural.learners.learner import EpisodeLoss
from nodegraft.methods.neural.learners.prototypes import PrototypeLearner
from nodegraft.methods.neural.prototypes import cosines
from nodegraft.streams.episodes.episode import Episode


class PrototypeAttention(nn.Module):
    r"""One head of self-attention with a residual.

    .. math::
        a_{jk} = \mathrm{softmax}_k\left(\frac{\langle Q w_j, K w_k \rangle}{\sqrt{h}}\right),
        \quad w_j' = w_j + \sum_k a_{jk} U w_k

    Any number of classes in any order. :math:`U` starts at zero, so that training starts from the
    plain prototypes.

    Args:
        size: How many numbers a prototype has (:math:`h`).
        generator: Draws the first :math:`Q` and :math:`K` (Xavier, uniform).
    """

    def __init__(self, size: int, generator: torch.Generator) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.empty(size, size))
        self.key = nn.Parameter(torch.empty(size, size))
        self.value = nn.Parameter(torch.zeros(size, size))
        for weight in (self.query, self.key):
            nn.init.xavier_uniform_(weight, generator=generator)

    def weights(self, prototypes: Tensor) -> Tensor:
        """Return how much each class counts for class ``j`` in row ``j``, which sums to one."""
        products = (prototypes @ self.query.T) @ (prototypes @ self.key.T).T
        return torch.softmax(products / math.sqrt(prototypes.shape[1]), dim=1)

    def forward(self, prototypes: Tensor) -> Tensor:
        """Return the adapted prototypes."""
        return prototypes + self.weights(prototypes) @ (prototypes @ self.value.T)


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
        """Return cross-entropy of the queries over the classes of all tasks."""
        means = self.learn(view, episode.support, None)
        scores = self.score(view, episode.query.rows(), means)
        return EpisodeLoss(F.cross_entropy(scores, torch.from_numpy(episode.targets)))

    def score(self, view: GraphView, rows: NDArray[np.int64], memory: Tensor) -> Tensor:
        """Return cosine to each adapted prototype, times the temperature."""
        return self.temperature * cosines(self.embed(view, rows), self.attention(memory))
