"""A classifier of nodes: an encoder and one row of weights for each class."""

import numpy as np
import torch
from torch import Tensor, nn

from nodegraft.graph.propagation.neighbourhood import Neighbourhood
from nodegraft.methods.neural.encoders.encoder import Encoder


class Classifier(nn.Module):
    r"""Scores :math:`s = g_\theta(A, X) W^\top`, one column per class in the order of ``head``.

    Args:
        encoder: Embeds the nodes; it is not copied, and training the classifier trains it, too.
        head: One row of weights a class (:math:`W`), as wide as an embedding; it is copied.
    """

    def __init__(self, encoder: Encoder, head: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Parameter(head.detach().clone())

    @property
    def hops(self) -> int:
        """How many hops around a node its score depends on."""
        return self.encoder.hops

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Scores of the nodes at the centre.

        Args:
            neighbourhood: What may be seen around the nodes, :attr:`hops` steps far.
            dropout: The share of hidden numbers that is dropped, from 0 to below 1.
            generator: Decides which ones; without it nothing is dropped.
        """
        hidden: Tensor = self.encoder(neighbourhood, dropout, generator)
        return hidden @ self.head.T

    def with_more_classes(self, num_classes: int, generator: torch.Generator) -> "Classifier":
        """The same encoder with fresh rows for more classes behind the known ones.

        Args:
            num_classes: How many classes are added.
            generator: Draws their rows (Xavier, uniform), as those of the first classes.
        """
        rows = torch.empty(num_classes, self.encoder.size)
        nn.init.xavier_uniform_(rows, generator=generator)
        return Classifier(self.encoder, torch.cat((self.head.detach(), rows)))
