"""The regression of FrozenRidge for narrow rows: no system as large as there are labels."""

from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class PrimalRidge:
    r"""Class-balanced ridge regression in as many unknowns as rows have columns:

    .. math:: W = M Z^\top D^{-1} Y, \quad w_p = \frac{M p}{1 + p^\top M p}, \quad
        M = \bigl(Z^\top D^{-1} Z + \lambda I\bigr)^{-1}

    with :math:`p` the mean of a class that comes later, as in
    :class:`~nodegraft.methods.linear.frozen_ridge.FrozenRidge`.

    >>> ridge = PrimalRidge.solved(np.eye(2), np.array([0, 1]), penalty=1.0)
    >>> ridge.weights.round(6).tolist(), ridge.joined(np.array([[1.0, 1.0]])).round(6).tolist()
    ([[0.5, 0.0], [0.0, 0.5]], [[0.25, 0.25]])

    Args:
        factor: The lower triangle of Cholesky's factor of :math:`M^{-1}`.
        weights: A row for each class.
    """

    def __init__(self, factor: Floats, weights: Floats) -> None:
        self._factor = factor
        self.weights = weights
        """A row for each class."""

    @classmethod
    def solved(cls, rows: Floats, classes: NDArray[np.int64], penalty: float) -> Self:
        """The regression among some labels.

        Args:
            rows: One for each label (:math:`Z`).
            classes: The column of each label's class.
            penalty: How strongly weights are drawn to zero (:math:`\\lambda`).
        """
        # Slow to import, and only a change needs it.
        from scipy.linalg import cho_factor, cho_solve

        counts = np.bincount(classes)
        even = rows / counts[classes][:, None]
        system = rows.T @ even + penalty * np.eye(rows.shape[1])
        factor, _ = cho_factor(system, lower=True, overwrite_a=True)
        means = np.eye(counts.size)[classes].T @ even
        return cls(factor, cho_solve((factor, True), means.T).T)

    def joined(self, means: Floats) -> Floats:
        """The weights of classes that come later, a row for each.

        Args:
            means: Their mean rows.
        """
        from scipy.linalg import cho_solve

        solved: Floats = cho_solve((self._factor, True), means.T).T
        weights: Floats = solved / (1.0 + np.einsum("ij,ij->i", means, solved))[:, None]
        return weights
