"""The one optimiser of all gradient training here."""

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn


def adam(
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    weight_decay: float,
    undecayed: Iterable[nn.Parameter] = (),
) -> torch.optim.Adam:
    """Adam as one kernel a step: tensor by tensor it costs as much as a sparse layer.

    Args:
        parameters: The weights to train.
        learning_rate: The step size, above 0.
        weight_decay: How strongly weights are drawn to zero, at least 0 (an L2 penalty).
        undecayed: More weights to train, which nothing draws to zero.
    """
    groups: list[dict[str, Any]] = [{"params": list(parameters)}]
    free = list(undecayed)
    if free:
        groups.append({"params": free, "weight_decay": 0.0})
    return torch.optim.Adam(groups, lr=learning_rate, weight_decay=weight_decay, fused=True)
