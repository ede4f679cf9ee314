"""Class-balanced ridge regression in closed form: tensors in, tensors out."""

from collections.abc import Iterable

import torch
from torch import Tensor

from nodegraft.methods.linear.covariance import mean_variance


def with_bias(features: Tensor) -> Tensor:
    """A column of ones behind the others.

    >>> with_bias(torch.tensor([[2.0], [3.0]])).tolist()
    [[2.0, 1.0], [3.0, 1.0]]

    Args:
        features: One row a node.
    """
    return torch.cat((features, torch.ones(len(features), 1, dtype=features.dtype)), dim=1)


def balanced_moments(features_by_class: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    r""":math:`G = \sum_c \frac{1}{n_c} \sum_{i \in c} z_i z_i^\top` and the class means.

    The means are the other side of the equation: :math:`Q` of one-hot targets has the column
    :math:`\frac{1}{n_c} \sum_{i \in c} z_i`.

    >>> gram, means = balanced_moments([torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0]])])
    >>> gram.tolist(), means.tolist()
    ([[9.0]], [[2.0], [2.0]])

    Args:
        features_by_class: The rows of each class's nodes, at least one class. They are taken one
            class at a time, so that wide features need not be held for all of them.
    """
    moments = ((rows.T @ rows / len(rows), rows.mean(dim=0)) for rows in features_by_class)
    gram, first = next(moments)
    means = [first]
    for more, mean in moments:
        gram += more
        means.append(mean)
    return gram, torch.stack(means)


def ridge_weights(gram: Tensor, means: Tensor, penalty: float) -> Tensor:
    r"""Rows of :math:`W = (G + \lambda s J)^{-1} Q`, for features that end with the constant 1.

    :math:`s` is the mean of G's diagonal, so that the penalty means the same for long and short
    vectors, few and many classes; :math:`J` is the identity without the last 1: the bias is free.

    >>> gram, means = balanced_moments(
    ...     with_bias(rows) for rows in (torch.tensor([[1.0]]), torch.tensor([[-1.0]]))
    ... )
    >>> ridge_weights(gram, means, penalty=1.0).round(decimals=4).tolist()
    [[0.25, 0.5], [-0.25, 0.5]]

    Args:
        gram: The matrix :math:`G` of :func:`balanced_moments`.
        means: The class means: the columns of :math:`Q`, one row a class.
        penalty: How strongly weights are drawn to zero (:math:`\lambda`), relative to :math:`s`;
            larger values give smaller weights.
    """
    penalties = torch.full((len(gram),), penalty * mean_variance(gram[:-1, :-1]), dtype=gram.dtype)
    penalties[-1] = 0.0
    factor = torch.linalg.cholesky(gram + penalties.diag())
    return torch.cholesky_solve(means.T, factor).T.contiguous()
