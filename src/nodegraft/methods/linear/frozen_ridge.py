"""Ridge regression that later classes join by their mean, without solving it again."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class FrozenRidge:
    r"""Class-balanced ridge regression among the first classes' labels, as
    :func:`~nodegraft.methods.linear.dual.dual_ridge`; a later class is one more row, its mean
    :math:`p`, with weights that leave all others as they are:

    .. math:: w_p = \frac{M p}{1 + p^\top M p}, \quad
        M = \bigl(Z^\top D^{-1} Z + \lambda I\bigr)^{-1}
          = \tfrac{1}{\lambda} \bigl(I - Z^\top (Z Z^\top + \lambda D)^{-1} Z\bigr)

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> ridge = FrozenRidge.solved(rows @ rows.T, np.array([0, 1]), penalty=1.0)
    >>> ridge.coefficients.round(6).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    >>> labels, own = ridge.joined(np.array([[1.0], [1.0]]), np.array([2.0]))
    >>> (rows.T @ labels + own * np.array([[1.0], [1.0]])).round(6).tolist()
    [[0.25], [0.25]]

    Args:
        factor: The lower triangle of Cholesky's factor of :math:`Z Z^\top + \lambda D`.
        coefficients: A row for each label, a column for each class.
        penalty: How strongly weights are drawn to zero (:math:`\lambda`).
    """

    def __init__(self, factor: Floats, coefficients: Floats, penalty: float) -> None:
        self._factor = factor
        self._penalty = penalty
        self.coefficients = coefficients
        """A row for each label, a column for each class."""

    @classmethod
    def solved(cls, gram: NDArray[Any], classes: NDArray[np.int64], penalty: float) -> Self:
        """Solve the regression among some labels.

        Args:
            gram: Inner products of the labels.
            classes: The column of each label's class.
            penalty: How strongly weights are drawn to zero.
        """
        # Imported late, because it is slow to import and only a change needs it.
        from scipy.linalg import cho_factor, cho_solve

        counts = np.bincount(classes)
        system = gram + penalty * np.diag(counts[classes].astype(np.float64))
        factor, _ = cho_factor(system, lower=True, overwrite_a=True)
        return cls(factor, cho_solve((factor, True), np.eye(counts.size)[classes]), penalty)

    def state(self) -> dict[str, Floats]:
        """Return everything but the penalty as arrays; of the factor the lower triangle."""
        triangle = self._factor[np.tri(len(self._factor), dtype=bool)]
        return {"factor": triangle, "coefficients": self.coefficients}

    @classmethod
    def from_state(cls, arrays: dict[str, Floats], penalty: float) -> Self:
        """Restore a regression from :meth:`state`.

        Args:
            arrays: What it gave.
            penalty: As it was.
        """
        coefficients = arrays["coefficients"]
        factor = np.zeros((len(coefficients),) * 2)
        factor[np.tri(len(coefficients), dtype=bool)] = arrays["factor"]
        return cls(factor, coefficients, penalty)

    def joined(self, across: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Return the share of each label, and of its own mean, in each later class's weights.

        Args:
            across: Products of the labels with each later class's mean, labels x classes.
            squares: The square of each mean.
        """
        from scipy.linalg import cho_solve

        solved = cho_solve((self._factor, True), across)
        reach = (squares - np.einsum("ij,ij->j", across, solved)) / self._penalty
        own = 1.0 / (self._penalty * (1.0 + reach))
        return -solved * own, own


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
        """Solve the regression among some labels.

        Args:
            rows: One for each label (:math:`Z`).
            classes: The column of each label's class.
            penalty: How strongly weights are drawn to zero (:math:`\\lambda`).
        """
        # Imported late, because it is slow to import and only a change needs it.
        from scipy.linalg import cho_factor, cho_solve

        counts = np.bincount(classes)
        even = rows / counts[classes][:, None]
        system = rows.T @ even + penalty * np.eye(rows.shape[1])
        factor, _ = cho_factor(system, lower=True, overwrite_a=True)
        means = np.eye(counts.size)[classes].T @ even
        return cls(factor, cho_solve((factor, True), means.T).T)

    def joined(self, means: Floats) -> Floats:
        """Return the weights of classes that come later, a row for each.

        Args:
            means: Their mean rows.
        """
        from scipy.linalg import cho_solve

        solved: Floats = cho_solve((self._factor, True), means.T).T
        weights: Floats = solved / (1.0 + np.einsum("ij,ij->i", means, solved))[:, None]
        return weights
