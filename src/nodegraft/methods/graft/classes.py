"""Classes by their labels, and made ready for asking about nodes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.methods.graft.class_vectors import BlockVectors, ClassVectors

Floats = NDArray[np.float64]

PLENTY = 100
"""Labels from which on a class is hardly scored as a new one any more."""

FEW = 5
"""Up to so many labels the mean of a class is refined by unlabelled nodes in full; with more labels
they count less and less, and from twice as many on not at all."""


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
        return np.flatnonzero(self.refinement)

    @property
    def refinement(self) -> Floats:
        """How much unlabelled nodes count for each class's mean, from 0 to 1."""
        return np.clip(2.0 - self.counts / FEW, 0.0, 1.0)

    def __or__(self, others: "Taught") -> "Taught":
        """With more classes behind, none of them refined."""
        return Taught(
            np.concatenate((self.counts, others.counts)),
            self.labels + others.labels,
            tuple(map(np.vstack, zip(self.means, others.means, strict=True))),
        )


@dataclass(frozen=True)
class FirstClasses:
    """What the classes that a model started with fix for those that came later."""

    centre: tuple[Floats, ...]
    """For each layer the mean of their mean rows."""

    regression: list[Floats] | None
    """For each of the layers X, SX, S²X a row for each class, later ones too: the products with a
    node's rows add up to its score. None where no regression is wanted."""

    typed: list[Floats] | None
    """The same for X and each block of neighbours by edge type; None without blocks."""


@dataclass(frozen=True)
class Known:
    """Some classes, made ready for asking about nodes."""

    vectors: list[ClassVectors]
    """Layer by layer, what nodes are compared with."""

    typed: BlockVectors | None
    """What neighbours by edge type are multiplied with; None without blocks."""

    starts: tuple[IntArray, ...]
    """The labels that heat starts from."""

    heat: DiffusionTable | None
    """Heat from these at all nodes; None where no diffusion time counts."""

    scarcity: Floats
    """How few labels each class has."""

    def of(self, columns: NDArray[np.int64]) -> "Known":
        """Some of the classes.

        Args:
            columns: Where they stand.
        """
        vectors = [one.of(columns) for one in self.vectors]
        starts = tuple(self.starts[column] for column in columns)
        heat = None if self.heat is None else self.heat.of(columns)
        typed = None if self.typed is None else self.typed.of(columns)
        return Known(vectors, typed, starts, heat, self.scarcity[columns])


def label_scarcity(counts: NDArray[np.int64]) -> Floats:
    """How few labels classes have: larger for fewer.

    Args:
        counts: How many each has.
    """
    return np.log1p(PLENTY / counts)
