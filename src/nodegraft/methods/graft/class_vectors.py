"""What nodes are compared with: some vectors for each class, made once and used for every node."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.hashing import content_hash
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows
from nodegraft.methods.graft.words import word_log_ratios

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


@dataclass(frozen=True)
class ClassVectors:
    """The vectors of one layer, for products with nodes' rows."""

    layer: int
    """Which rows."""

    vectors: Floats
    """As columns, kind by kind: the centre; where each mean lies, seen from it; then words and
    regression, if any."""

    shift: Floats
    """For each class the product of the second kind with the centre."""

    square: float
    """The centre's square."""

    has_words: bool
    """Whether words are compared."""

    has_regression: bool
    """Whether there is a regression."""

    @classmethod
    def of_means(
        cls,
        features: SpreadFeatures,
        layer: int,
        means: Floats,
        centre: Floats,
        background: Floats | None = None,
        regression: Floats | None = None,
    ) -> "ClassVectors":
        r"""Of some classes.

        Args:
            features: The rows of all nodes.
            layer: Which rows.
            means: The mean row of each class (:math:`q_c`).
            centre: One row (:math:`\mu`).
            background: The mean row of all nodes; None where words are not compared.
            regression: For each class what its score in a regression is the product with, if any.
        """
        away = means - centre
        away /= np.linalg.norm(away, axis=1, keepdims=True) + 1e-12
        kinds = [centre[None], away]
        if background is not None:
            kinds.append(word_log_ratios(means, background))
        if regression is not None:
            kinds.append(regression)
        return cls(
            layer,
            np.hstack([features.weighed(one) for one in kinds]),
            # Row by row, for the same reason as means: see LabelMeans.
            np.einsum("ij,j->i", away, centre),
            float(centre @ centre),
            background is not None,
            regression is not None,
        )

    def of(self, columns: NDArray[np.int64]) -> "ClassVectors":
        """Those of some of the classes.

        Args:
            columns: Where they stand.
        """
        kinds = range(1 + self.has_words + self.has_regression)
        chosen = [self.kind(self.vectors, kind)[:, columns] for kind in kinds]
        vectors = np.hstack([self.vectors[:, :1], *chosen])
        return replace(self, vectors=vectors, shift=self.shift[columns])

    def hashes(self) -> list[str]:
        """For each class one of all that its numbers depend on, beside the nodes."""
        kinds = range(1 + self.has_words + self.has_regression)
        own = np.stack([self.kind(self.vectors, kind) for kind in kinds])
        centre = content_hash(self.layer, np.array([self.square]), self.vectors[:, 0])
        return [
            content_hash(centre, own[:, :, column], self.shift[[column]])
            for column in range(self.shift.size)
        ]

    def compared(self, near: SpreadRows) -> Compared:
        r""":math:`\cos(z - \mu, q_c - \mu)`, and products with the other vectors.

        Args:
            near: The nodes (:math:`z`).
        """
        products = near.times(self.layer, self.vectors)
        cosines = self.kind(products, 0)
        cosines -= self.shift
        cosines /= self.distances(near, products[:, 0])[:, None]
        return Compared(
            cosines,
            self.kind(products, 1) if self.has_words else None,
            self.kind(products, 1 + self.has_words) if self.has_regression else None,
        )

    def distances(self, near: SpreadRows, middle: Floats) -> Floats:
        """Of nodes from the centre.

        Args:
            near: The nodes.
            middle: The products of their rows with the centre.
        """
        squares = near.present[self.layer] - 2.0 * middle + self.square
        distances: Floats = np.sqrt(np.maximum(squares, 1e-12))
        return distances

    def kind(self, matrix: Floats, kind: int) -> Floats:
        """The columns of one kind, the first that classes have being number 0.

        Args:
            matrix: The vectors, or products with them.
            kind: Which one.
        """
        start = 1 + kind * self.shift.size
        return matrix[:, start : start + self.shift.size]


@dataclass(frozen=True)
class BlockVectors:
    """Weights of the regression on neighbours by edge type, for products with nodes' rows."""

    layers: tuple[int, ...]
    """Which rows."""

    vectors: tuple[Floats, ...]
    """For each layer one column for each class."""

    @classmethod
    def of_weights(cls, features: SpreadFeatures, weights: Sequence[Floats]) -> "BlockVectors":
        """Of some classes.

        Args:
            features: The rows of all nodes.
            weights: For X and each block a row for each class.
        """
        return cls(tuple(features.block_layers), tuple(map(features.weighed, weights)))

    def of(self, columns: NDArray[np.int64]) -> "BlockVectors":
        """Those of some of the classes.

        Args:
            columns: Where they stand.
        """
        return replace(self, vectors=tuple(one[:, columns] for one in self.vectors))

    def hashes(self) -> list[str]:
        """For each class one of all that its numbers depend on, beside the nodes."""
        return [
            content_hash(list(self.layers), *(one[:, column] for one in self.vectors))
            for column in range(self.vectors[0].shape[1])
        ]

    def scores(self, near: SpreadRows) -> Floats:
        """Return the score of each node in the regression: nodes x classes.

        Args:
            near: The nodes.
        """
        scores: Floats = reduce(np.add, map(near.times, self.layers, self.vectors))
        return scores
