"""SGC RanPAC: random ReLU features of propagated rows, then ridge regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import Memo
from nodegraft.base.parameters.constraints import PositiveFloat, PositiveInt
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.methods.linear.dual import Dual, dual_ridge
from nodegraft.methods.templates.propagated import KernelHead
from nodegraft.model.learned import GraphInputs


@dataclass(kw_only=True)
class SGCRanPAC(KernelHead):
    r"""``ranpac`` on propagated features instead of an encoder.

    :math:`\phi = \mathrm{relu}(z R) \sqrt{2 / m}` with :math:`m` random directions
    :math:`R_{ij} \sim N(0, 1)`, drawn from the seed and never trained. The product of two such
    rows with equal :math:`z` is close to 1, whatever :math:`m`. McDonnell et al. 2023,
    https://arxiv.org/abs/2307.02251.
    """

    penalty: PositiveFloat = 0.1
    r"""Strength of L2 regularisation (:math:`\lambda`)."""

    features: PositiveInt = 2000
    """Number of random features (:math:`m`). More features approximate the kernel better and cost
    more time and memory."""

    name: ClassVar[str] = "sgc-ranpac"
    summary: ClassVar[str] = "propagated features, random ReLU features, class-balanced ridge"
    citation: ClassVar[str] = "Wu et al. 2019 (SGC); McDonnell et al. 2023 (RanPAC)"
    reversible: ClassVar[bool] = True

    def _start(self, inputs: GraphInputs, labels: KeyedLabels) -> None:
        super()._start(inputs, labels)
        self._random_weights = Memo[NDArray[np.float32]]()

    def lift(self, vectors: Matrix) -> Matrix:
        """Return the random features."""
        lifted: Matrix = np.maximum(vectors @ self._directions(vectors.shape[1]), 0.0)
        return lifted

    def solve(self, gram: NDArray[np.float64], counts: NDArray[np.int64], width: int) -> Dual:
        """Solve a ridge regression on one-hot targets."""
        return dual_ridge(gram, counts, self.penalty)

    def _directions(self, width: int) -> NDArray[np.float32]:
        return self._random_weights.get(
            (self.seed, width, self.features), lambda: self._draw(width)
        )

    def _draw(self, width: int) -> NDArray[np.float32]:
        draws = self.seeds.generator("random features")
        directions = draws.standard_normal((width, self.features), dtype=np.float32)
        directions *= np.sqrt(2.0 / self.features)
        return directions
