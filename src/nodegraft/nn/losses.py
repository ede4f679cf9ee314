"""Losses: tensors in, one number out."""

import torch.nn.functional as F
from torch import Tensor


def task_weighted_cross_entropy(scores: Tensor, targets: Tensor, class_weights: Tensor) -> Tensor:
    r""":math:`\frac{1}{|Q|} \sum_{q} (1 + w_{y_q}) \cdot CE(s_q, y_q)`.

    With weights of zero it is the plain cross-entropy.

    >>> import torch
    >>> scores, targets = torch.zeros(1, 2), torch.tensor([1])
    >>> round(task_weighted_cross_entropy(scores, targets, torch.tensor([0.0, 1.0])).item(), 4)
    1.3863
    """
    losses = F.cross_entropy(scores, targets, reduction="none")
    return ((1.0 + class_weights[targets]) * losses).mean()
