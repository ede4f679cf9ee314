"""Attention over the prototypes of all classes: each one is adapted to the others."""

import math

import torch
from torch import Tensor, nn


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
        """Row ``j`` says how much each class counts for class ``j``; it sums to one.

        Args:
            prototypes: One row a class.
        """
        products = (prototypes @ self.query.T) @ (prototypes @ self.key.T).T
        return torch.softmax(products / math.sqrt(prototypes.shape[1]), dim=1)

    def forward(self, prototypes: Tensor) -> Tensor:
        """The adapted prototypes.

        Args:
            prototypes: One row a class.
        """
        return prototypes + self.weights(prototypes) @ (prototypes @ self.value.T)
