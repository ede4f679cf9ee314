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

        The score of node :math:`i` without itself is :math:`b + u_i - b_i v_i`, where
        :math:`u_i = y_i - (A Y)_i / A_{ii}`, :math:`v_i = 1 - (A 1)_i / A_{ii}`,
        :math:`A = (K + \lambda I)^{-1}`, and :math:`b_i` is the mean of the other nodes. The first
        :math:`b` is that of all nodes. With :math:`b_i`, which is smaller for the nodes of a class,
        these would score lower than other nodes if the class has few labels.

        >>> two = KernelRidge.solved(np.eye(2), np.array([[True], [False]]), 0.5, 1.0)
        >>> two.scores(np.eye(2)).round(3).tolist(), two.left_out.round(3).tolist()
        ([[0.732], [0.268]], [[0.5], [0.5]])

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
        with_ones = np.column_stack((targets, np.ones(len(rows))))
        solved = cho_solve((factor, is_lower), with_ones, check_finite=False)
        coefficients = solved[:, :-1] - offsets * solved[:, -1:]
        inverse, _ = lapack.dpotri(factor, lower=is_lower)
        without = with_ones - solved / np.diagonal(inverse)[:, None]
        others = (targets.sum(axis=0) - targets) / max(len(rows) - 1, 1)
        left_out = offsets + without[:, :-1] - others * without[:, -1:]
        return cls(rows, coefficients, offsets, left_out, width)

    def scores(self, rows: NDArray[Any]) -> Floats:
        """Return the score of each node and class.

        Args:
            rows: Rows of the nodes, of length 1.
        """
        products = np.asarray(rows, dtype=np.float64) @ self.examples.T
        scores: Floats = np.exp((products - 1.0) / self.width) @ self.coefficients
        return scores + self.offsets
