"""Linear classifiers in dual form: solved from inner products of the labelled nodes."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Dual(NamedTuple):
    """Linear classifier in dual form.

    The scores of a node are its inner products with the labelled nodes, times ``coefficients``,
    plus ``offsets``.
    """

    coefficients: NDArray[np.float64]
    """Dual coefficients: labelled nodes x classes."""

    offsets: NDArray[np.float64]
    """Offset of each class."""


def dual_ridge(gram: NDArray[Any], counts: NDArray[np.int64], penalty: float) -> Dual:
    r"""Return :math:`\alpha = (K + \lambda D)^{-1} Y`: ridge regression on one-hot targets.

    The diagonal matrix :math:`D` contains, for each labelled node, the number of labels of its
    class. So all classes have equal weight, however many labels they have. It is the solution of
    :math:`\min_W \sum_c \frac{1}{n_c} \sum_{i \in c} \lVert W^\top z_i - e_c \rVert^2 + \lambda
    \lVert W \rVert^2`, with as many unknowns as labels.

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> dual_ridge(rows @ rows.T, np.array([1, 1]), penalty=1.0).coefficients.round(6).tolist()
    [[0.5, 0.0], [0.0, 0.5]]

    Args:
        gram: Inner products of the labelled nodes, ordered by class (:math:`K`).
        counts: Number of labels of each class.
        penalty: Strength of L2 regularisation (:math:`\lambda`).
    """
    from scipy.linalg import solve

    sizes = np.repeat(counts, counts).astype(np.float64)
    system = gram + penalty * np.diag(sizes)
    coefficients = solve(system, _one_hot(counts), assume_a="pos")
    return Dual(coefficients, np.zeros(counts.size))


def dual_lda(gram: NDArray[Any], counts: NDArray[np.int64], shrinkage: float, width: int) -> Dual:
    r"""Solve linear discriminant analysis with one shrunken covariance for all classes.

    .. math:: s_k(z) = w_k^\top z - \tfrac{1}{2} w_k^\top \mu_k, \quad
        w_k = [(1 - \epsilon) \Sigma + \epsilon s I]^{-1} \mu_k

    with :math:`\Sigma = A^\top A / n`, :math:`A` the labelled rows minus their class means, and
    :math:`s` the mean variance. By Woodbury's identity :math:`w_k = \frac{1}{\epsilon s}
    [\mu_k - A^\top (\tfrac{n \epsilon s}{1 - \epsilon} I + A A^\top)^{-1} A \mu_k]`, in which rows
    occur only in inner products.

    >>> rows = np.array([[1.0, 0.1], [1.0, -0.1], [-1.0, 0.2], [-1.0, -0.2]])
    >>> head = dual_lda(rows @ rows.T, np.array([2, 2]), shrinkage=0.5, width=2)
    >>> scores = rows @ rows.T @ head.coefficients + head.offsets
    >>> scores.argmax(axis=1).tolist()
    [0, 0, 1, 1]

    Args:
        gram: Inner products of the labelled nodes, ordered by class.
        counts: Number of labels of each class.
        shrinkage: Shrinkage of the covariance towards a multiple of the identity matrix
            (:math:`\epsilon`), above 0.
        width: Number of feature columns.
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
    """Subtract from each row the mean row of its class; rows are ordered by class."""
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    means = np.add.reduceat(rows, first, axis=0) / counts[:, None]
    off: NDArray[Any] = rows - np.repeat(means, counts, axis=0)
    return off


def _one_hot(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.repeat(np.eye(counts.size), counts, axis=0)


class FrozenRidge:
    r"""Class-balanced ridge regression on the first classes, to which later classes can be added.

    The first classes are solved as in :func:`~nodegraft.methods.linear.dual.dual_ridge`. A later
    class adds one row, its mean :math:`p`, and does not change the weights of other classes:

    .. math:: w_p = \frac{M p}{1 + p^\top M p}, \quad
        M = \bigl(Z^\top D^{-1} Z + \lambda I\bigr)^{-1}
          = \tfrac{1}{\lambda} \bigl(I - Z^\top (Z Z^\top + \lambda D)^{-1} Z\bigr)

    >>> rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> ridge = FrozenRidge.solved(rows @ rows.T, np.array([0, 1]), penalty=1.0)
    >>> ridge.coefficients.round(6).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    >>> labels, own = ridge.later_coefficients(np.array([[1.0], [1.0]]), np.array([2.0]))
    >>> (rows.T @ labels + own * np.array([[1.0], [1.0]])).round(6).tolist()
    [[0.25], [0.25]]

    Args:
        factor: Lower triangular Cholesky factor of :math:`Z Z^\top + \lambda D`.
        coefficients: Dual coefficients of the first classes: labels x classes.
        penalty: Strength of L2 regularisation (:math:`\lambda`).
    """

    def __init__(self, factor: Floats, coefficients: Floats, penalty: float) -> None:
        self._factor = factor
        self._penalty = penalty
        self.coefficients = coefficients
        """Dual coefficients of the first classes: labels x classes."""

    @classmethod
    def solved(cls, gram: NDArray[Any], classes: NDArray[np.int64], penalty: float) -> Self:
        """Solve the regression on the labels of the first classes.

        Args:
            classes: Class index of each labelled node.
        """
        # This import is slow, and only learning needs it.
        from scipy.linalg import cho_factor, cho_solve

        counts = np.bincount(classes)
        system = gram + penalty * np.diag(counts[classes].astype(np.float64))
        factor, _ = cho_factor(system, lower=True, overwrite_a=True)
        return cls(factor, cho_solve((factor, True), np.eye(counts.size)[classes]), penalty)

    def state(self) -> dict[str, Floats]:
        """Return the arrays that :meth:`from_state` reads."""
        triangle = self._factor[np.tri(len(self._factor), dtype=bool)]
        return {"factor": triangle, "coefficients": self.coefficients}

    @classmethod
    def from_state(cls, arrays: dict[str, Floats], penalty: float) -> Self:
        """Restore a regression from the arrays of :meth:`state`."""
        coefficients = arrays["coefficients"]
        factor = np.zeros((len(coefficients),) * 2)
        factor[np.tri(len(coefficients), dtype=bool)] = arrays["factor"]
        return cls(factor, coefficients, penalty)

    def later_coefficients(self, across: Floats, squares: Floats) -> tuple[Floats, Floats]:
        """Return, for each later class, the coefficients of the labels and of the class mean.

        Args:
            across: Inner products of labels with the means of later classes: labels x classes.
            squares: Squared length of each later class's mean.
        """
        from scipy.linalg import cho_solve

        solved = cho_solve((self._factor, True), across)
        reach = (squares - np.einsum("ij,ij->j", across, solved)) / self._penalty
        own = 1.0 / (self._penalty * (1.0 + reach))
        return -solved * own, own


class PrimalRidge:
    r"""Class-balanced ridge regression in primal form, with as many unknowns as feature columns:

    .. math:: W = M Z^\top D^{-1} Y, \quad w_p = \frac{M p}{1 + p^\top M p}, \quad
        M = \bigl(Z^\top D^{-1} Z + \lambda I\bigr)^{-1}

    with :math:`p` the mean of a later class, as in
    :class:`~nodegraft.methods.linear.dual.FrozenRidge`.

    >>> ridge = PrimalRidge.solved(np.eye(2), np.array([0, 1]), penalty=1.0)
    >>> ridge.weights.round(6).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    >>> ridge.later_weights(np.array([[1.0, 1.0]])).round(6).tolist()
    [[0.25, 0.25]]

    Args:
        factor: Lower triangular Cholesky factor of :math:`M^{-1}`.
        weights: Weights of the first classes, one row per class.
    """

    def __init__(self, factor: Floats, weights: Floats) -> None:
        self._factor = factor
        self.weights = weights
        """Weights of the first classes, one row per class."""

    @classmethod
    def solved(cls, rows: Floats, classes: NDArray[np.int64], penalty: float) -> Self:
        """Solve the regression on the labels of the first classes.

        Args:
            classes: Class index of each labelled node.
        """
        # This import is slow, and only learning needs it.
        from scipy.linalg import cho_factor, cho_solve

        counts = np.bincount(classes)
        even = rows / counts[classes][:, None]
        system = rows.T @ even + penalty * np.eye(rows.shape[1])
        factor, _ = cho_factor(system, lower=True, overwrite_a=True)
        means = np.eye(counts.size)[classes].T @ even
        return cls(factor, cho_solve((factor, True), means.T).T)

    def later_weights(self, means: Floats) -> Floats:
        """Return the weights of later classes, one row per class.

        Args:
            means: Mean row of each later class.
        """
        from scipy.linalg import cho_solve

        solved: Floats = cho_solve((self._factor, True), means.T).T
        weights: Floats = solved / (1.0 + np.einsum("ij,ij->i", means, solved))[:, None]
        return weights
