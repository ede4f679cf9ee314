"""SGC LDA: linear discriminants with one covariance, on propagated features."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import OpenFraction
from nodegraft.methods.linear.dual import Dual, dual_lda
from nodegraft.methods.templates.propagated import KernelHead


@dataclass(kw_only=True)
class SGCLDA(KernelHead):
    """``lda`` on propagated features instead of an encoder.

    Means and covariance use at most ``kept_labels`` labels of each class
    (:func:`nodegraft.methods.linear.dual.dual_lda`). Newer work on graphs also combines an
    untrained graph encoder with streaming LDA; Hayes & Kanan 2020,
    https://arxiv.org/abs/1909.01520.
    """

    shrinkage: OpenFraction = 0.1
    """Shrinkage of the covariance towards a multiple of the identity matrix, between 0 and 1. Use a
    larger value for fewer labels."""

    name: ClassVar[str] = "sgc-lda"
    summary: ClassVar[str] = "propagated features, linear discriminants with one covariance"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC); Hayes & Kanan 2020 (SLDA)"
    reversible: ClassVar[bool] = True

    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        """Solve linear discriminant analysis in dual form."""
        return dual_lda(gram, counts, self.shrinkage, width)
