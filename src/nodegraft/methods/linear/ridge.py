"""Functions of feature rows and class means: ridge regression and scatter."""

from collections.abc import Iterable

import torch
from torch import Tensor


def within_class_scatter(embeddings: Tensor, targets: Tensor, means: Tensor) -> Tensor:
    r"""Return the scatter matrix :math:`\sum_i (z_i - \mu_{y_i})(z_i - \mu_{y_i})^\top`.

    Scatter matrices of different classes can be added.

    >>> rows, means = torch.tensor([[0.0, 1.0], [2.0, 1.0]]), torch.tensor([[1.0, 1.0]])
    >>> within_class_scatter(rows, torch.tensor([0, 0]), means).tolist()
    [[2.0, 0.0], [0.0, 0.0]]

    Args:
        embeddings: Embedding of each node (:math:`z`).
        targets: Class index of each node.
        means: Mean embedding of each class (:math:`\mu`).
    """
    around = embeddings - means[targets]
    return around.T @ around


def shrink_covariance(covariance: Tensor, shrinkage: float) -> Tensor:
    r"""Return :math:`(1 - \epsilon) \Sigma + \epsilon s I`, with :math:`s` the mean variance.

    >>> shrink_covariance(torch.tensor([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]

    Args:
        covariance: Covariance matrix (:math:`\Sigma`).
        shrinkage: Shrinkage towards a multiple of the identity matrix (:math:`\epsilon`), from 0
            (no change) to 1 (equal variance in all directions).
    """
    identity = torch.eye(len(covariance), dtype=covariance.dtype, device=covariance.device)
    return (1.0 - shrinkage) * covariance + shrinkage * mean_variance(covariance) * identity


def mean_variance(matrix: Tensor) -> float:
    """Return the mean of a matrix's diagonal, or 1 if it is 0; penalties are relative to it.

    >>> mean_variance(torch.tensor([[3.0, 9.0], [9.0, 1.0]])), mean_variance(torch.zeros(2, 2))
    (2.0, 1.0)
    """
    return matrix.diagonal().mean().item() or 1.0


def with_bias(features: Tensor) -> Tensor:
    """Return the features with a column of ones at the end.

    >>> with_bias(torch.tensor([[2.0], [3.0]])).tolist()
    [[2.0, 1.0], [3.0, 1.0]]
    """
    return torch.cat((features, features.new_ones(len(features), 1)), dim=1)


def balanced_moments(features_by_class: Iterable[Tensor]) -> tuple[Tensor, Tensor]:
    r"""Return :math:`G = \sum_c \frac{1}{n_c} \sum_{i \in c} z_i z_i^\top` and the class means.

    The class means are the right side of the ridge equation: for one-hot targets, the columns of
    :math:`Q` are :math:`\frac{1}{n_c} \sum_{i \in c} z_i`.

    >>> gram, means = balanced_moments([torch.tensor([[1.0], [3.0]]), torch.tensor([[2.0]])])
    >>> gram.tolist(), means.tolist()
    ([[9.0]], [[2.0], [2.0]])

    Args:
        features_by_class: Feature rows of each class's nodes; at least one class. The iterable is
            read one class at a time, which saves memory for wide features.
    """
    moments = ((rows.T @ rows / len(rows), rows.mean(dim=0)) for rows in features_by_class)
    gram, first = next(moments)
    means = [first]
    for more, mean in moments:
        gram += more
        means.append(mean)
    return gram, torch.stack(means)


def ridge_weights(gram: Tensor, means: Tensor, penalty: float) -> Tensor:
    r"""Return the ridge weights :math:`W = (G + \lambda s J)^{-1} Q`, one row per class.

    The last feature of each node must be 1, as in :func:`with_bias`.

    :math:`s` is the mean of the diagonal of :math:`G`, so that the effect of the penalty does not
    depend on the length of vectors or the number of classes. :math:`J` is the identity matrix
    without the last 1, so the bias is not penalised.

    >>> gram, means = balanced_moments(
    ...     with_bias(rows) for rows in (torch.tensor([[1.0]]), torch.tensor([[-1.0]]))
    ... )
    >>> ridge_weights(gram, means, penalty=1.0).round(decimals=4).tolist()
    [[0.25, 0.5], [-0.25, 0.5]]

    Args:
        gram: Class-balanced second moments :math:`G`, from :func:`balanced_moments`.
        means: Class means, the columns of :math:`Q`, one row per class.
        penalty: Strength of L2 regularisation (:math:`\lambda`), relative to :math:`s`; larger
            values give smaller weights.
    """
    penalties = gram.new_full((len(gram),), penalty * mean_variance(gram[:-1, :-1]))
    penalties[-1] = 0.0
    factor = torch.linalg.cholesky(gram + penalties.diag())
    return torch.cholesky_solve(means.T, factor).T.contiguous()
