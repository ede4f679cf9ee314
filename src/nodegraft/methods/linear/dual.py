"""Linear heads solved among the labelled nodes themselves: inner products in, coefficients out."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Dual(NamedTuple):
    """Scores are products with the labelled nodes, times ``coefficients``, plus ``offsets``."""

    coefficients: NDArray[np.float64]
    """A row for each labelled node, a column for each class."""

    offsets: NDArray[np.float64]
    """One for each class."""


def dual_ridge(gram: NDArray[Any], counts: NDArray[np.int64], penalty: float) -> Dual:
    r"""Return :math:`\alpha = (K + \lambda D)^{-1} Y`: ridge regression on one-hot targets.

    :math:`D` holds the number of labels of each node's class: so classes count alike, however many
    labels they have. It is the solution of :math:`\min_W \sum_c \frac{1}{n_c} \sum_{i \in c}
    \lVert W^\top z_i - e_c \rVert^2 + \lambda \lVert W \rVert^2`, in as many unknowns as labels.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> dual_ridge(rows @ rows.T, np.array([1, 1]), penalty=1.0).coefficients.round(6).tolist()
    [[0.5, 0.0], [0.0, 0.5]]

    Args:
        gram: Inner products of the labelled nodes, one class after the other (:math:`K`).
        counts: How many of them each class has.
        penalty: How strongly weights are drawn to zero (:math:`\lambda`).
    """
    from scipy.linalg import solve

    sizes = np.repeat(counts, counts).astype(np.float64)
    system = gram + penalty * np.diag(sizes)
    coefficients = solve(system, _one_hot(counts), assume_a="pos")
    return Dual(coefficients, np.zeros(counts.size))


def dual_lda(gram: NDArray[Any], counts: NDArray[np.int64], shrinkage: float, width: int) -> Dual:
    r"""Solve linear discriminants with one shrunken covariance for all classes.

    .. math:: s_k(z) = w_k^\top z - \tfrac{1}{2} w_k^\top \mu_k, \quad
        w_k = [(1 - \epsilon) \Sigma + \epsilon s I]^{-1} \mu_k

    with :math:`\Sigma = A^\top A / n`, :math:`A` the labelled rows off their class means and
    :math:`s` the mean variance. By Woodbury's identity :math:`w_k = \frac{1}{\epsilon s}
    [\mu_k - A^\top (\tfrac{n \epsilon s}{1 - \epsilon} I + A A^\top)^{-1} A \mu_k]`, in which rows
    occur in inner products only.

    >>> rows = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.2], [-1.0, -0.2]])
    >>> head = dual_lda(rows @ rows.T, np.array([2, 2]), shrinkage=0.5, width=2)
    >>> scores = rows @ rows.T @ head.coefficients + head.offsets
    >>> scores.argmax(axis=1).tolist()
    [0, 0, 1, 1]

    Args:
        gram: Inner products of the labelled nodes, one class after the other.
        counts: How many of them each class has.
        shrinkage: How far the covariance is drawn to a round one (:math:`\epsilon`), above 0.
        width: How many numbers a row has.
    """
    from scipy.linalg import solve

    nodes = len(gram)
    means = _one_hot(counts) / counts
    scatter = _off_means(_off_means(gram, counts).T, counts)
    variance = np.trace(scatter) / (nodes * width) or 1.0
    ridge = shrinkage * variance
    system = scatter + nodes * ridge / (1.0 - shrinkage) * np.eye(nodes)
    along = solve(system, _off_means(gram @ means, counts), assume_a="pos")
    coefficients = (means - _off_means(along, counts)) / ridge
    return Dual(coefficients, -0.5 * ((gram @ means) * coefficients).sum(axis=0))


def _off_means(rows: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return rows, one class after the other, minus the mean of their class."""
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    means = np.add.reduceat(rows, first, axis=0) / counts[:, None]
    off: NDArray[Any] = rows - np.repeat(means, counts, axis=0)
    return off


def _one_hot(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.repeat(np.eye(counts.size), counts, axis=0)
