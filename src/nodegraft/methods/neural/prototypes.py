"""Class means and how near they are: tensors in, tensors out."""

import torch
import torch.nn.functional as F
from torch import Tensor


def class_means(embeddings: Tensor, targets: Tensor, num_classes: int) -> Tensor:
    r"""Return rows :math:`p_k = \frac{1}{|S_k|} \sum_{j \in S_k} z_j`, the paper's Eq. (PN).

    >>> class_means(torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 0, 1]), 2).tolist()
    [[2.0], [5.0]]

    Args:
        targets: The number of each node's class, from 0.
        num_classes: How many rows the result has; a class without nodes gets zeros.
    """
    sums = torch.zeros(num_classes, embeddings.shape[1], dtype=embeddings.dtype)
    sums.index_add_(0, targets, embeddings)
    counts = torch.bincount(targets, minlength=num_classes).clamp(min=1)
    return sums / counts[:, None]


def squared_distances(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    r"""Return :math:`\lVert z_i - p_k \rVert^2` for every pair, computed by differences.

    The expanded form would round differently for one row than for many.

    >>> squared_distances(torch.tensor([[3.0, 4.0]]), torch.zeros(1, 2)).tolist()
    [[25.0]]
    """
    mode = "donot_use_mm_for_euclid_dist"
    return torch.cdist(embeddings, prototypes, compute_mode=mode).square()


def cosines(embeddings: Tensor, prototypes: Tensor) -> Tensor:
    r"""Return :math:`\cos(z_i, p_k)` for every pair; a vector of zeros is similar to nothing.

    By the distance of unit vectors, :math:`(\lVert a \rVert^2 + \lVert b \rVert^2 - d^2) / 2`: a
    product of matrices would round differently for one row than for many.

    >>> cosines(torch.tensor([[3.0, 0.0], [0.0, 0.0]]), torch.tensor([[2.0, 0.0]])).tolist()
    [[1.0], [0.0]]
    """
    rows, others = F.normalize(embeddings), F.normalize(prototypes)
    lengths = rows.square().sum(dim=1)[:, None] + others.square().sum(dim=1)
    return (lengths - squared_distances(rows, others)) / 2.0
