"""Class data of graft: labels of each class, mean rows of labels, and class vectors."""

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
"""Maximum number of values in a batch of dense rows."""

CACHED_NUMBERS = 2**26
"""Maximum number of values in the cache of means: half a gigabyte."""


class LabelMeans:
    """Cache of the mean feature row of each set of labelled nodes, for each layer of a graph.

    Args:
        features: Propagated features of all nodes.
    """

    def __init__(self, features: SpreadFeatures) -> None:
        self._features = features
        self._known: dict[bytes, tuple[Floats, ...]] = {}
        self._latest: tuple[IntArray, SpreadRows | None] = (features.view.rows[:0], None)

    def grown(self, features: SpreadFeatures, stale: NDArray[np.bool_]) -> "LabelMeans":
        """Return a cache for a graph that has grown; it reuses the means of unchanged rows."""
        child = LabelMeans(features)
        child._known = {
            rows: means
            for rows, means in self._known.items()
            if not stale[np.frombuffer(rows, dtype=np.int64)].any()
        }
        return child

    def of(self, sets: Sequence[IntArray]) -> tuple[Floats, ...]:
        """Return, for each layer, the mean feature row of each set of nodes.

        Args:
            sets: Row numbers of each set, ascending.
        """
        known = self._known
        new = {rows.tobytes(): rows for rows in sets if rows.tobytes() not in known}
        known = {**known, **self._computed(new)}
        means = [known[rows.tobytes()] for rows in sets]
        layers = self._features.all_layers
        if len(known) * len(layers) * self._features.columns.size > CACHED_NUMBERS:
            known = {rows.tobytes(): own for rows, own in zip(sets, means, strict=True)}
        # A single assignment is thread-safe: if several threads assign, the last result is kept.
        self._known = known
        return tuple(np.stack([own[layer] for own in means]) for layer in layers)

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
        # Store copies instead of views, so that dropping a mean frees its memory.
        return {
            name: tuple(layer[column].copy() for layer in means) for column, name in enumerate(sets)
        }

    def _dense_means(self, sets: dict[bytes, IntArray]) -> dict[bytes, tuple[Floats, ...]]:
        """Compute the means one set at a time, so that they do not depend on the other sets.

        The rounding of a matrix product depends on its other columns, and the score cache uses
        hashes of means as keys.
        """
        means: dict[bytes, tuple[Floats, ...]] = {}
        layers = self._features.all_layers
        most = BATCH_NUMBERS // max(len(layers) * self._features.columns.size, 1)
        for some in _batches(sets, most):
            rows = np.unique(np.concatenate([sets[name] for name in some]))
            near = self._features.rows(rows)
            for name in some:
                part = near.part(np.searchsorted(rows, sets[name]))
                even = np.full((sets[name].size, 1), 1.0 / sets[name].size)
                means[name] = tuple(part.sums(layer, even)[0].copy() for layer in layers)
            self._latest = rows, near
        return means

    def rows(self, rows: IntArray) -> SpreadRows:
        """Return the feature rows of nodes; reuse the last batch if it contains all of them.

        Args:
            rows: Row numbers of the nodes, ascending.
        """
        last, near = self._latest
        places = np.minimum(np.searchsorted(last, rows), max(last.size - 1, 0))
        if near is None or not np.array_equal(last[places], rows):
            return self._features.rows(rows)
        return near.part(places)


def _batches(sets: dict[bytes, IntArray], most: int) -> Iterator[list[bytes]]:
    """Yield batches of set names; the sets of a batch have about ``most`` rows in total."""
    members = np.cumsum([rows.size for rows in sets.values()])
    for _, some in groupby(zip(sets, members // max(most, 1), strict=True), key=itemgetter(1)):
        yield [name for name, _ in some]


LayerVectors = dict[int, Floats]
"""Layer number -> matrix with one column for each class."""

PLENTY = 100
"""Number of labels above which the term for few labels hardly changes the score of a class."""

FEW = 5
"""Number of labels up to which unlabelled nodes have full weight in the mean of a class.

With more labels, their weight decreases; it is 0 from twice this number of labels."""


@dataclass(frozen=True)
class LabelledClasses:
    """Labels, mean rows and regression weights of classes.

    Args:
        counts: Number of labels of each class.
        labels: Row numbers of the labels used for each class.
        means: For each layer, the mean feature row of each class's labels.
        centre: For each layer, the mean of the first classes' means.
        regressions: For each regression and each of its layers, a matrix with one weight row per
            class. The products of a node's rows with these weights add up to its score. Empty for
            a regression that is not used.
        refined: For each layer, the mean row of each class's labels and of the unlabelled nodes
            assigned to the class; None before refinement.
        added: Effective number of unlabelled nodes in each refined mean: the sum of their
            weights.
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
        """Label scarcity of each class, see :func:`label_scarcity`."""
        return label_scarcity(self.counts)

    @property
    def few(self) -> NDArray[np.int64]:
        """Indices of the classes with few labels, whose means are refined."""
        return np.flatnonzero(self.refinement)

    @property
    def refinement(self) -> Floats:
        """Weight of unlabelled nodes in the mean of each class, from 0 to 1."""
        return np.clip(2.0 - self.counts / FEW, 0.0, 1.0)


@dataclass(frozen=True)
class ClassVectors:
    """Class vectors that signals compare nodes with; computed once and used for every node.

    Args:
        vectors: For each kind of signal that compares rows with vectors (cosine, words, regression,
            edge types) and each of its layers, a matrix with one column per class. For cosines,
            the first column is the centre, and the others are the directions from the centre to
            the class means.
        shifts: Products of the cosine directions with the centre: layers x classes.
        squares: Squared length of the centre of each layer.
        starts: Row numbers of each class's labels, where diffusion starts.
        heat: Heat that diffuses from these labels to all nodes; None without diffusion.
        scarcity: Label scarcity of each class; zeros if the term for few labels is off.
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
        """Create the vectors for cosines and words, which depend on means; leave the others empty.

        Args:
            means: For each layer, the mean row of each class.
            centre: For each layer, the mean of the first classes' means.
            background: For each layer used by word signals, the mean row of all nodes.
        """
        # The last layers are means by edge type; they have no centre.
        away = [rows - middle for rows, middle in zip(means, centre, strict=False)]
        for direction in away:
            direction /= np.linalg.norm(direction, axis=1, keepdims=True) + 1e-12
        stacked = map(np.vstack, zip(centre, away, strict=True))
        words = {
            layer: features.weighted(_word_log_ratios(means[layer], usual))
            for layer, usual in background.items()
        }
        # Compute the product row by row, because the rounding of a matrix product depends on its
        # other rows.
        shifts = [np.einsum("ij,j->i", *pair) for pair in zip(away, centre, strict=True)]
        squares = np.array([row @ row for row in centre])
        directions = dict(enumerate(map(features.weighted, stacked)))
        return cls({"cosine": directions, "words": words}, np.stack(shifts), squares)

    @cached_property
    def side_by_side(self) -> dict[int, tuple[Floats, dict[str, slice]]]:
        """For each layer, all vectors as one matrix, and the column range of each signal kind."""
        layers: dict[int, dict[str, Floats]] = {}
        for kind, vectors in self.vectors.items():
            for layer, part in vectors.items():
                layers.setdefault(layer, {})[kind] = part
        sums = {}
        for layer, parts in layers.items():
            ends = np.cumsum([part.shape[1] for part in parts.values()]).tolist()
            columns = dict(zip(parts, map(slice, [0, *ends], ends), strict=True))
            sums[layer] = np.hstack(list(parts.values())), columns
        return sums

    def of(self, columns: NDArray[np.int64]) -> "ClassVectors":
        """Return the vectors of the classes at the given indices."""
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
        """Return a hash for each class of all that its signals depend on, except the graph."""
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
    """Return the label scarcity of each class, which is larger for fewer labels."""
    return np.log1p(PLENTY / counts)


def _word_log_ratios(means: Floats, background: Floats) -> Floats:
    r"""Return the evidence of each word for each class, :math:`\log \frac{q_c + b}{2b}`.

    The product with a row of word weights is the log-likelihood ratio of a multinomial naive
    Bayes classifier. The background :math:`b`, the mean row of all nodes, smooths it: a word that
    is missing in the few labels of a class is only weak evidence against the class.

    >>> _word_log_ratios(np.array([[0.3, 0.1]]), np.array([0.1, 0.1])).round(3).tolist()
    [[0.693, 0.0]]
    """
    # Nodes that were added later may have negative features, which cannot be word frequencies.
    ratios: Floats = np.log((np.maximum(means, 0.0) + background) / (2.0 * background))
    return ratios
