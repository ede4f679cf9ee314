"""Loss functions, and the optimiser for all gradient training."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def task_weighted_cross_entropy(scores: Tensor, targets: Tensor, class_weights: Tensor) -> Tensor:
    r"""Return :math:`\frac{1}{|Q|} \sum_{q} (1 + w_{y_q}) \cdot CE(s_q, y_q)`.

    >>> import torch
    >>> scores, targets = torch.zeros(1, 2), torch.tensor([1])
    >>> round(task_weighted_cross_entropy(scores, targets, torch.tensor([0.0, 1.0])).item(), 4)
    1.3863

    Args:
        scores: Scores of the queries: nodes x classes.
        targets: Class index of each query.
        class_weights: Extra weight of each class (:math:`w`); zeros give the plain cross-entropy.
    """
    losses = F.cross_entropy(scores, targets, reduction="none")
    return ((1.0 + class_weights[targets]) * losses).mean()


def distillation_loss(scores: Tensor, teacher_scores: Tensor, temperature: float) -> Tensor:
    r"""Return the divergence between softened class probabilities of a network and its teacher.

    .. math:: T^2 \cdot \frac{1}{|Q|} \sum_q KL\bigl(\sigma(t_q / T) \,\Vert\, \sigma(s_q / T)\bigr)

    The loss is zero where both networks agree. The factor :math:`T^2` keeps the size of its
    gradient comparable to that of a cross-entropy at any temperature. Hinton et al. 2015,
    https://arxiv.org/abs/1503.02531.

    >>> import torch
    >>> scores, teacher_scores = torch.zeros(1, 2), torch.tensor([[2.0, 0.0]])
    >>> round(distillation_loss(scores, teacher_scores, temperature=2.0).item(), 4)
    0.4438

    Args:
        scores: Scores of the network (:math:`s`): nodes x classes.
        teacher_scores: Scores of the teacher (:math:`t`) for the same nodes and classes.
        temperature: Number that divides both scores (:math:`T`), above 0. Larger values give more
            weight to classes with low scores.
    """
    softened = F.log_softmax(scores / temperature, dim=1)
    targets = F.log_softmax(teacher_scores / temperature, dim=1)
    divergence = F.kl_div(softened, targets, reduction="batchmean", log_target=True)
    return temperature**2 * divergence


def balanced_cross_entropy(scores: Tensor, targets: Tensor) -> Tensor:
    r"""Return :math:`\frac{1}{|C|} \sum_{k \in C} \frac{1}{|S_k|} \sum_{j \in S_k} CE(s_j, k)`.

    All classes among the targets have equal weight, however many nodes they have.

    >>> import torch
    >>> scores = torch.tensor([[9.0, 0.0], [9.0, 0.0], [0.0, 0.0]])
    >>> round(balanced_cross_entropy(scores, torch.tensor([0, 0, 1])).item(), 4)
    0.3466

    Args:
        scores: Scores of the nodes: nodes x classes.
        targets: Class index of each node.
    """
    counts = targets.bincount(minlength=scores.shape[1]).clamp(min=1)
    return F.cross_entropy(scores, targets, weight=1.0 / counts.to(scores.dtype))


def adam(
    parameters: Iterable[nn.Parameter],
    learning_rate: float,
    weight_decay: float,
    undecayed: Iterable[nn.Parameter] = (),
) -> torch.optim.Adam:
    """Return a fused Adam optimiser; an optimiser that is not fused is much slower.

    Args:
        parameters: Weights to train with weight decay.
        learning_rate: Step size, above 0.
        weight_decay: Strength of L2 regularisation, at least 0.
        undecayed: Weights to train without weight decay.
    """
    groups: list[dict[str, Any]] = [{"params": list(parameters)}]
    free = list(undecayed)
    if free:
        groups.append({"params": free, "weight_decay": 0.0})
    return torch.optim.Adam(groups, lr=learning_rate, weight_decay=weight_decay, fused=True)
