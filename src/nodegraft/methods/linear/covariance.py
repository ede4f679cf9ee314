"""Scatter around class means, and how it is kept invertible: tensors in, tensors out."""

import torch
from torch import Tensor


def within_class_scatter(embeddings: Tensor, targets: Tensor, means: Tensor) -> Tensor:
    r""":math:`\sum_i (z_i - \mu_{y_i})(z_i - \mu_{y_i})^\top`: scatters of more nodes just add up.

    >>> rows, means = torch.tensor([[0.0, 1.0], [2.0, 1.0]]), torch.tensor([[1.0, 1.0]])
    >>> within_class_scatter(rows, torch.tensor([0, 0]), means).tolist()
    [[2.0, 0.0], [0.0, 0.0]]

    Args:
        embeddings: One row a node.
        targets: The number of each node's class, from 0.
        means: One row a class.
    """
    around = embeddings - means[targets]
    return around.T @ around


def shrink_covariance(covariance: Tensor, shrinkage: float) -> Tensor:
    r""":math:`(1 - \epsilon) \Sigma + \epsilon s I`, with :math:`s` the mean variance.

    >>> shrink_covariance(torch.tensor([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]

    Args:
        covariance: A square matrix (:math:`\Sigma`).
        shrinkage: How far it is drawn to a round one (:math:`\epsilon`), from 0 to 1: 0 leaves it
            as it is, 1 makes all directions alike.
    """
    identity = torch.eye(len(covariance), dtype=covariance.dtype)
    return (1.0 - shrinkage) * covariance + shrinkage * mean_variance(covariance) * identity


def mean_variance(matrix: Tensor) -> float:
    """The mean of a diagonal, or 1 where nothing varies: what "small" is measured against.

    >>> mean_variance(torch.tensor([[3.0, 9.0], [9.0, 1.0]])), mean_variance(torch.zeros(2, 2))
    (2.0, 1.0)

    Args:
        matrix: A square matrix, such as a covariance.
    """
    return matrix.diagonal().mean().item() or 1.0
