"""Classes by their labels, and made ready for asking about nodes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.algebra.diffusion import WalkTable
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.training.class_vectors import ClassVectors

Floats = NDArray[np.float64]

PLENTY = 100
"""Labels from which on a class is hardly scored as a new one any more."""

FEW = 10
"""Classes with fewer labels have their means refined by unlabelled nodes."""


@dataclass(frozen=True)
class Taught:
    """Some classes: how many labels they have, which, and where their rows lie on average."""

    counts: NDArray[np.int64]
    """How many labels each class has."""

    labels: tuple[IntArray, ...]
    """The rows of those that are looked at."""

    means: tuple[Floats, ...]
    """For each layer the mean row of each class's labels."""

    refined: tuple[Floats, ...] | None = None
    """The same, with the unlabelled nodes that seem to be of it."""

    gained: Floats | None = None
    """How many unlabelled nodes went into each refined mean, in all their parts."""

    @property
    def scarcity(self) -> Floats:
        """The same as :func:`label_scarcity`."""
        return label_scarcity(self.counts)

    @property
    def few(self) -> NDArray[np.int64]:
        """The classes whose means are worth refining."""
        return np.flatnonzero(self.counts < FEW)

    def __or__(self, others: "Taught") -> "Taught":
        """With more classes behind, none of them refined."""
        return Taught(
            np.concatenate((self.counts, others.counts)),
            self.labels + others.labels,
            tuple(map(np.vstack, zip(self.means, others.means, strict=True))),
        )


@dataclass(frozen=True)
class Known:
    """Some classes, made ready for asking about nodes."""

    vectors: list[ClassVectors]
    """Layer by layer, what nodes are compared with."""

    starts: tuple[IntArray, ...]
    """The labels that walks start from."""

    walks: WalkTable | None
    """Where these come to."""

    scarcity: Floats
    """How few labels each class has."""

    def of(self, columns: NDArray[np.int64]) -> "Known":
        """Some of the classes.

        Args:
            columns: Where they stand.
        """
        vectors = [one.of(columns) for one in self.vectors]
        starts = tuple(self.starts[column] for column in columns)
        walks = None if self.walks is None else self.walks.of(columns)
        return Known(vectors, starts, walks, self.scarcity[columns])


def label_scarcity(counts: NDArray[np.int64]) -> Floats:
    """How few labels classes have: larger for fewer.

    Args:
        counts: How many each has.
    """
    return np.log1p(PLENTY / counts)
