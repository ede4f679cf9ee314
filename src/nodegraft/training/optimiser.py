"""The one optimiser of all gradient training here."""

from collections.abc import Iterable

import torch
from torch import nn


def adam(
    parameters: Iterable[nn.Parameter], learning_rate: float, weight_decay: float
) -> torch.optim.Adam:
    """Adam as one kernel a step: tensor by tensor it costs as much as a sparse layer.

    Args:
        parameters: The weights to train.
        learning_rate: The step size, above 0.
        weight_decay: How strongly weights are drawn to zero, at least 0 (an L2 penalty).
    """
    return torch.optim.Adam(parameters, lr=learning_rate, weight_decay=weight_decay, fused=True)
