"""SGC ridge: class-balanced ridge regression on propagated features, in closed form."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveFloat
from nodegraft.methods.templates.kernel_head import KernelHead
from nodegraft.nn.linear.dual import Dual, dual_ridge


@dataclass(kw_only=True)
class SGCRidge(KernelHead):
    r"""What ``ridge`` does on an encoder, on :math:`z = [X, SX, S^2X]`:

    .. math:: s(z) = z^\top Z^\top (Z Z^\top + \lambda D)^{-1} Y

    with :math:`Z` the rows of the labels, :math:`Y` their classes and :math:`D` the number of
    labels of each one's class (:func:`nodegraft.nn.linear.dual.dual_ridge`). The analytic head on
    a frozen backbone without parameters is the recipe of newer work (Zhuang et al. 2022, ACIL).
    """

    penalty: PositiveFloat = 0.1
    r"""How strongly weights are drawn to zero (:math:`\lambda`); rows have length 1."""

    name: ClassVar[str] = "sgc-ridge"
    summary: ClassVar[str] = "propagated features, class-balanced ridge regression in closed form"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC); Zhuang et al. 2022 (ACIL)"
    reversible: ClassVar[bool] = True

    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        """Ridge regression on one-hot targets."""
        return dual_ridge(gram, counts, self.penalty)
