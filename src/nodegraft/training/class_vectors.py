"""What nodes are compared with: some vectors for each class, made once and used for every node."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.spread import SpreadFeatures, SpreadRows
from nodegraft.nn.naive_bayes import word_log_ratios

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Compared:
    """Nodes x classes, each."""

    cosines: Floats
    """How near each class's mean is, seen from the centre."""

    words: Floats | None
    """What words say for each class, where they are compared."""

    regression: Floats | None
    """One layer's part of the score in the regression, where there is one."""


class ClassVectors:
    r"""The vectors of one layer.

    Args:
        features: The rows of all nodes.
        layer: Which rows.
        means: The mean row of each class (:math:`q_c`).
        centre: One row (:math:`\mu`).
        background: The mean row of all nodes; None where words are not compared.
        regression: For each class what its score in a regression is the product with, if any.
    """

    def __init__(
        self,
        features: SpreadFeatures,
        layer: int,
        means: Floats,
        centre: Floats,
        background: Floats | None = None,
        regression: Floats | None = None,
    ) -> None:
        away = means - centre
        away /= np.linalg.norm(away, axis=1, keepdims=True) + 1e-12
        parts = [away, centre[None]]
        if background is not None:
            parts.append(word_log_ratios(means, background))
        if regression is not None:
            parts.append(regression)
        self._layer = layer
        self._classes = len(means)
        self._vectors = features.weighed(np.vstack(parts))
        self._shift: Floats = away @ centre
        self._square = float(centre @ centre)
        self._worded, self._regressed = background is not None, regression is not None

    def compared(self, near: SpreadRows) -> Compared:
        r""":math:`\cos(z - \mu, q_c - \mu)`, and products with the other vectors.

        Args:
            near: The nodes (:math:`z`).
        """
        products = near.times(self._layer, self._vectors)
        along, middle = products[:, : self._classes], products[:, self._classes]
        squares = near.present[self._layer] - 2.0 * middle + self._square
        lengths = np.sqrt(np.maximum(squares, 1e-12))
        rest = products[:, self._classes + 1 :]
        return Compared(
            (along - self._shift) / lengths[:, None],
            rest[:, : self._classes] if self._worded else None,
            rest[:, -self._classes :] if self._regressed else None,
        )
