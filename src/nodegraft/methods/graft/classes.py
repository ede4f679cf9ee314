"""Classes as graft sees them: their labels, the means of these, and vectors made from both."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.hashing import content_hash
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows

Floats = NDArray[np.float64]


BATCH_NUMBERS = 2**23
"""Maximum size of a batch of dense rows."""

CACHED_NUMBERS = 2**26
"""Maximum size of the cache of means: half a gigabyte."""


class LabelMeans:
    """Mean rows of sets of labels on one graph, layer by layer.

    Args:
        features: Rows of all nodes.
    """

    def __init__(self, features: SpreadFeatures) -> None:
        self._features = features
        self._known: dict[bytes, tuple[Floats, ...]] = {}
        self._latest: tuple[IntArray, SpreadRows | None] = (features.view.rows[:0], None)

    def grown(self, features: SpreadFeatures, stale: NDArray[np.bool_]) -> "LabelMeans":
        """Return the means for a graph that has grown, reusing those whose rows did not change."""
        child = LabelMeans(features)
        child._known = {
            rows: means
            for rows, means in self._known.items()
            if not stale[np.frombuffer(rows, dtype=np.int64)].any()
        }
        return child

    def of(self, sets: Sequence[IntArray]) -> tuple[Floats, ...]:
        """Return for each layer the mean row of each set.

        Args:
            sets: Row numbers, ascending.
        """
        known = self._known
        new = {rows.tobytes(): rows for rows in sets if rows.tobytes() not in known}
        known = {**known, **self._computed(new)}
        found = [known[rows.tobytes()] for rows in sets]
        layers = self._features.all_layers
        if len(known) * len(layers) * self._features.columns.size > CACHED_NUMBERS:
            known = {rows.tobytes(): means for rows, means in zip(sets, found, strict=True)}
        # One assignment: of several threads the last one's result stays.
        self._known = known
        return tuple(np.stack([means[layer] for means in found]) for layer in layers)

    def _computed(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        if not sets:
            return {}
        if not self._features.view.has_sparse_features:
            return self._dense_means(sets)
        rows = np.unique(np.concatenate(list(sets.values())))
        shares = np.zeros((rows.size, len(sets)))
        for column, members in enumerate(sets.values()):
            shares[np.searchsorted(rows, members), column] = 1.0 / members.size
        near = self._features.rows(rows)
        means = [near.sums(layer, shares) for layer in self._features.all_layers]
        # Copies, so that dropping one mean frees its memory.
        return {
            name: tuple(layer[column].copy() for layer in means) for column, name in enumerate(sets)
        }

    def _dense_means(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        """Compute means set by set: the rounding of a matrix product depends on its other columns,
        and the cache of scores goes by hashes of means."""
        found: dict[bytes, tuple[Floats, ...]] = {}
        layers = self._features.all_layers
        most = BATCH_NUMBERS // max(len(layers) * self._features.columns.size, 1)
        for some in _batches(sets, most):
            rows = np.unique(np.concatenate([sets[name] for name in some]))
            near = self._features.rows(rows)
            for name in some:
                part = near.part(np.searchsorted(rows, sets[name]))
                even = np.full((sets[name].size, 1), 1.0 / sets[name].size)
                found[name] = tuple(part.sums(layer, even)[0].copy() for layer in layers)
            self._latest = rows, near
        return found

    def rows(self, rows: IntArray) -> SpreadRows:
        """Return rows of nodes, as a part of the last batch if they are all in it.

        Args:
            rows: Row numbers, ascending.
        """
        last, near = self._latest
        places = np.minimum(np.searchsorted(last, rows), max(last.size - 1, 0))
        if near is None or not np.array_equal(last[places], rows):
            return self._features.rows(rows)
        return near.part(places)


def _batches(sets: dict[bytes, IntArray], most: int) -> Iterator[list[bytes]]:
    """Yield the names of sets that together have about ``most`` members."""
    members = np.cumsum([rows.size for rows in sets.values()])
    for _, some in groupby(zip(sets, members // max(most, 1), strict=True), key=itemgetter(1)):
        yield [name for name, _ in some]


LayerVectors = dict[int, Floats]
"""Layer of rows -> a vector for each class, as columns."""

PLENTY = 100
"""Number of labels from which on a class is hardly scored as a new one."""

FEW = 5
"""Up to this many labels unlabelled nodes count in full for the mean of a class; with more labels
they count less, and from twice as many on not at all."""


@dataclass(frozen=True)
class LabelledClasses:
    """Some classes: their labels, and what is computed from these.

    Args:
        counts: Number of labels of each class.
        labels: Row numbers of the labels that are used.
        means: For each layer the mean row of each class's labels.
        centre: For each layer the mean of the first classes' means.
        regressions: For each regression and each of its layers a row for each class: products with
            the rows of a node add up to its score. Empty for a regression that is not used.
        refined: For each layer the mean row of labels and of unlabelled nodes that seem to be of
            the class; None before refinement.
        added: Number of unlabelled nodes in each refined mean: the sum of their shares.
    """

    counts: NDArray[np.int64]
    labels: tuple[IntArray, ...]
    means: tuple[Floats, ...]
    centre: tuple[Floats, ...]
    regressions: list[list[Floats]]
    refined: tuple[Floats, ...] | None = None
    added: Floats | None = None

    @property
    def scarcity(self) -> Floats:
        """:func:`label_scarcity` of each class."""
        return label_scarcity(self.counts)

    @property
    def few(self) -> NDArray[np.int64]:
        """Numbers of the classes whose means are refined."""
        return np.flatnonzero(self.refinement)

    @property
    def refinement(self) -> Floats:
        """Weight of unlabelled nodes in each class's mean, from 0 to 1."""
        return np.clip(2.0 - self.counts / FEW, 0.0, 1.0)


@dataclass(frozen=True)
class ClassVectors:
    """Vectors of some classes that nodes are compared with; made once, used for every node.

    Args:
        vectors: For each kind of signal that compares rows with vectors (cosine, words, regression,
            edge types) and each of its layers a vector for each class, as columns. For cosines
            these are the direction of each mean from the centre, and before them the centre.
        shifts: Products of these directions with the centre: layers x classes.
        squares: Squared length of the centre of each layer.
        starts: Labels of each class, from which heat starts.
        heat: Heat from them at all nodes; None without diffusion.
        scarcity: How few labels each class has; zeros if that is not to count.
    """

    vectors: dict[str, LayerVectors]
    shifts: Floats
    squares: Floats
    starts: tuple[IntArray, ...] = ()
    heat: DiffusionTable | None = None
    scarcity: Floats = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def of_means(
        cls,
        features: SpreadFeatures,
        means: Sequence[Floats],
        centre: Sequence[Floats],
        background: dict[int, Floats],
    ) -> "ClassVectors":
        """Make the vectors that depend on means; the others are empty.

        Args:
            background: For each layer whose words are compared the mean row of all nodes.
        """
        # Means of edge types, behind the others, have no centre.
        away = [rows - middle for rows, middle in zip(means, centre, strict=False)]
        for direction in away:
            direction /= np.linalg.norm(direction, axis=1, keepdims=True) + 1e-12
        stacked = map(np.vstack, zip(centre, away, strict=True))
        words = {
            layer: features.weighed(_word_log_ratios(means[layer], usual))
            for layer, usual in background.items()
        }
        # Row by row, because the rounding of matrix products depends on the other rows.
        shifts = [np.einsum("ij,j->i", *pair) for pair in zip(away, centre, strict=True)]
        squares = np.array([row @ row for row in centre])
        directions = dict(enumerate(map(features.weighed, stacked)))
        return cls({"cosine": directions, "words": words}, np.stack(shifts), squares)

    @cached_property
    def side_by_side(self) -> dict[int, tuple[Floats, dict[str, slice]]]:
        """Vectors of all kinds side by side, and the columns of each kind, by layer."""
        layers: dict[int, dict[str, Floats]] = {}
        for kind, vectors in self.vectors.items():
            for layer, part in vectors.items():
                layers.setdefault(layer, {})[kind] = part
        found = {}
        for layer, parts in layers.items():
            ends = np.cumsum([part.shape[1] for part in parts.values()]).tolist()
            columns = dict(zip(parts, map(slice, [0, *ends], ends), strict=True))
            found[layer] = np.hstack(list(parts.values())), columns
        return found

    def of(self, columns: NDArray[np.int64]) -> "ClassVectors":
        """Return the vectors of some of the classes."""
        with_centre = np.concatenate(([0], columns + 1))
        return replace(
            self,
            vectors={
                kind: {
                    layer: part[:, with_centre if kind == "cosine" else columns]
                    for layer, part in layers.items()
                }
                for kind, layers in self.vectors.items()
            },
            shifts=self.shifts[:, columns],
            starts=tuple(self.starts[column] for column in columns),
            heat=None if self.heat is None else self.heat.of(columns),
            scarcity=self.scarcity[columns],
        )

    def hashes(self) -> list[str]:
        """Return for each class a hash of all that its signals depend on, beside the graph."""
        directions = list(self.vectors["cosine"].values())
        shared = content_hash(self.squares, *(part[:, 0] for part in directions))
        matrices = [part[:, 1:] for part in directions]
        for kind, layers in self.vectors.items():
            matrices += layers.values() if kind != "cosine" else ()
        numbers = np.vstack((self.shifts, self.scarcity))
        return [
            content_hash(shared, start, numbers[:, column], *(part[:, column] for part in matrices))
            for column, start in enumerate(self.starts)
        ]


def label_scarcity(counts: NDArray[np.int64]) -> Floats:
    """Return how few labels classes have: larger for fewer."""
    return np.log1p(PLENTY / counts)


def _word_log_ratios(means: Floats, background: Floats) -> Floats:
    r"""Return :math:`\log \frac{q_c + b}{2b}`: how much each word speaks for each class.

    The product with a row of word weights is the log-likelihood ratio of a multinomial naive
    Bayes, smoothed by the background :math:`b`, the mean row of all nodes: a word that a class's
    few labels do not have counts against the class no more than chance would.

    >>> _word_log_ratios(np.array([[0.3, 0.1]]), np.array([0.1, 0.1])).round(3).tolist()
    [[0.693, 0.0]]
    """
    # Rows added after the background was computed may be negative, which no frequency is.
    ratios: Floats = np.log((np.maximum(means, 0.0) + background) / (2.0 * background))
    return ratios
