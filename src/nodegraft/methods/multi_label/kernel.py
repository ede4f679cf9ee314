"""Kernel ridge regression for many classes, with left-out scores of the labelled nodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KernelRidge:
    r"""Solved regression: the score of class :math:`c` is :math:`b_c + \sum_j k(z, z_j) a_{jc}`.

    The kernel is :math:`k(z, z') = e^{(z^\top z' - 1) / \tau}` on rows of length 1, and
    :math:`(K + \lambda I) a = Y - b`, where :math:`Y` says which labelled node has which class and
    :math:`b` is the mean of its columns.

    Args:
        examples: Rows of the labelled nodes.
        coefficients: Labelled nodes x classes (:math:`a`).
        offsets: Share of the labelled nodes that have each class (:math:`b`).
        left_out: Score of each labelled node by the regression without this node.
        width: Width of the kernel (:math:`\tau`).
    """

    examples: Floats
    coefficients: Floats
    offsets: Floats
    left_out: Floats
    width: float

    @classmethod
    def solved(
        cls, examples: NDArray[Any], targets: NDArray[np.bool_], width: float, penalty: float
    ) -> "KernelRidge":
        r"""Solve the regression.

        The score of node :math:`i` without itself is :math:`y_i - a_i / (K + \lambda I)^{-1}_{ii}`,
        with the offsets of all nodes.

        >>> two = KernelRidge.solved(np.eye(2), np.array([[True], [False]]), 0.5, 1.0)
        >>> two.scores(np.eye(2)).round(3).tolist(), two.left_out.round(3).tolist()
        ([[0.732], [0.268]], [[0.466], [0.534]])

        Args:
            examples: Rows of the labelled nodes, of length 1.
            targets: Whether each labelled node has each class.
        """
        from scipy.linalg import cho_factor, cho_solve, lapack

        rows = np.asarray(examples, dtype=np.float64)
        offsets = targets.mean(axis=0)
        system = np.exp((rows @ rows.T - 1.0) / width)
        system[np.diag_indices_from(system)] += penalty
        try:
            factor, is_lower = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError as error:
            raise ParameterError(
                f"The regression has no solution with penalty={penalty}: raise it."
            ) from error
        coefficients = cho_solve((factor, is_lower), targets - offsets, check_finite=False)
        inverse, _ = lapack.dpotri(factor, lower=is_lower)
        left_out = targets - coefficients / np.diagonal(inverse)[:, None]
        return cls(rows, coefficients, offsets, left_out, width)

    def scores(self, rows: NDArray[Any]) -> Floats:
        """Return the score of each node and class.

        Args:
            rows: Rows of the nodes, of length 1.
        """
        products = np.asarray(rows, dtype=np.float64) @ self.examples.T
        scores: Floats = np.exp((products - 1.0) / self.width) @ self.coefficients
        return scores + self.offsets
