"""A classifier of nodes: an encoder and one row of weights for each class."""

import numpy as np
import torch
from torch import Tensor, nn

from nodegraft.graph.neighbourhood import Neighbourhood
from nodegraft.nn.encoders.encoder import Encoder


class Classifier(nn.Module):
    r"""Scores :math:`s = g_\theta(A, X) W^\top`, one column per class in the order of ``head``."""

    def __init__(self, encoder: Encoder, head: Tensor) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = nn.Parameter(head.detach().clone())

    @property
    def hops(self) -> int:
        """How far it looks."""
        return self.encoder.hops

    def forward(
        self,
        neighbourhood: Neighbourhood,
        dropout: float = 0.0,
        generator: np.random.Generator | None = None,
    ) -> Tensor:
        """Scores of the nodes at the centre; without a generator nothing is dropped."""
        hidden: Tensor = self.encoder(neighbourhood, dropout, generator)
        return hidden @ self.head.T

    def with_more(self, classes: int, generator: torch.Generator) -> "Classifier":
        """The same encoder with fresh rows for more classes, drawn as those of the first ones."""
        rows = torch.empty(classes, self.encoder.size)
        nn.init.xavier_uniform_(rows, generator=generator)
        return Classifier(self.encoder, torch.cat((self.head.detach(), rows)))
