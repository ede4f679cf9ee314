"""Ridge regression on labels of the first classes; later classes are added by their means."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import Memo
from nodegraft.graph.edges.matrix import IntArray, gram
from nodegraft.graph.keys import hash_order
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows
from nodegraft.graph.stores import ArrayCache
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.classes import Floats, LabelMeans
from nodegraft.methods.linear.dual import FrozenRidge, PrimalRidge

LABELS_PER_CLASS, MOST_LABELS = 60, 3000
"""Maximum number of labels used for each first class, and for all first classes together."""

NARROW = 4
"""Factor for the choice between primal and dual form. Dense rows are solved in the primal form,
which has one unknown per column, if this factor times the number of columns of all layers is at
most the number of labels."""


class Regression:
    """Ridge regression on several feature layers side by side, scaled to length 1.

    Args:
        features: Propagated features of all nodes.
        means: Cache of the means of labels.
        layers: Layer numbers, ascending; empty if the regression is not used.
        penalty: Strength of L2 regularisation.
    """

    def __init__(
        self, features: SpreadFeatures, means: LabelMeans, layers: Sequence[int], penalty: float
    ) -> None:
        self.layers = list(layers)
        """Layer numbers, ascending."""
        self._features = features
        self._means = means
        self._penalty = penalty
        self._ridges = Memo[FrozenRidge](most=1)
        self._products: tuple[IntArray, Floats] = (features.view.rows[:0], np.zeros((0, 0)))

    def weights(
        self,
        labels: Sequence[IntArray],
        means: Sequence[Floats],
        first: NDArray[np.int64],
        practice: bool = False,
    ) -> list[Floats]:
        """Return the regression weights: for each layer, one row for each class.

        The products of a node's rows with these weights add up to its score.

        Args:
            practice: Whether cached inner products of a larger set of labels may be reused.
        """
        if not self.layers:
            return []
        most = max(1, min(LABELS_PER_CLASS, MOST_LABELS // first.size))
        used = [fair_sample(self._features.view, labels[column], most) for column in first]
        owners = np.repeat(np.arange(first.size), [part.size for part in used])
        order = np.argsort(np.concatenate(used), kind="stable")
        rows, owners = np.concatenate(used)[order], owners[order]
        near = self._means.rows(rows)
        if not practice and self._is_narrow(rows.size):
            return self._by_columns(near, owners, means, first)
        ridge = self._ridges.get(
            (practice, rows.tobytes(), owners.tobytes()),
            lambda: self._solved(rows, owners, practice),
        )
        return self._by_labels(ridge, near, means, first)

    def _by_labels(
        self,
        ridge: FrozenRidge,
        labels: SpreadRows,
        means: Sequence[Floats],
        first: NDArray[np.int64],
    ) -> list[Floats]:
        later = np.setdiff1d(np.arange(len(means[0])), first)
        across = np.zeros((len(ridge.coefficients), later.size))
        squares = np.zeros(later.size)
        count = len(self.layers)
        for layer in self.layers:
            joining = means[layer][later] / count
            across += labels.times(layer, self._features.weighted(joining))
            squares += np.einsum("ij,ij->i", means[layer][later], joining)
        shares = np.zeros((len(across), len(means[0])))
        shares[:, first] = ridge.coefficients
        shares[:, later], own = ridge.later_coefficients(across, squares)
        sums = [labels.sums(layer, shares) / count for layer in self.layers]
        for layer, rows in zip(self.layers, sums, strict=True):
            rows[later] += own[:, None] * (means[layer][later] / count)
        return sums

    def _by_columns(
        self,
        labels: SpreadRows,
        owners: NDArray[np.int64],
        means: Sequence[Floats],
        first: NDArray[np.int64],
    ) -> list[Floats]:
        """Solve the primal form, which has as many unknowns as columns."""
        layers, root = self.layers, np.sqrt(len(self.layers))
        side_by_side = np.hstack([labels.dense(layer) for layer in layers]) / root
        ridge = PrimalRidge.solved(side_by_side, owners, self._penalty)
        later = np.setdiff1d(np.arange(len(means[0])), first)
        weights = np.zeros((len(means[0]), ridge.weights.shape[1]))
        weights[first] = ridge.weights
        weights[later] = ridge.later_weights(
            np.hstack([means[layer][later] for layer in layers]) / root
        )
        return np.split(weights / root, len(layers), axis=1)

    def _is_narrow(self, labels: int) -> bool:
        view = self._features.view
        width = len(self.layers) * view.num_features
        return not view.has_sparse_features and NARROW * width <= labels

    def _solved(self, rows: IntArray, owners: NDArray[np.int64], practice: bool) -> FrozenRidge:
        """Solve the regression on the given labels; outside practice, cache it on disk."""
        cache = ArrayCache() if practice else self._features.array_cache
        depends_on = "regression", self.layers, [self._penalty], rows, owners
        cached = cache.get(*depends_on)
        if cached is not None:
            return FrozenRidge.from_state(cached, self._penalty)
        ridge = FrozenRidge.solved(self._inner_products(rows, practice), owners, self._penalty)
        if cache.keeps:
            cache.put(ridge.state(), *depends_on)
        return ridge

    def _inner_products(self, rows: IntArray, practice: bool) -> Floats:
        """Return inner products of rows over all layers; reuse the last result if possible."""
        last_rows, products = self._products
        enough = np.isin(rows, last_rows).all() if practice else np.array_equal(rows, last_rows)
        if not enough:
            layers = self._features.formed(rows, self.layers)
            # Add the products of the layers one by one to save memory: each is as large as the sum.
            last_rows, products = rows, reduce(np.add, map(gram, layers)) / len(self.layers)
            self._products = last_rows, products
        places = np.searchsorted(last_rows, rows)
        return products[np.ix_(places, places)]


def fair_sample(view: GraphView, rows: IntArray, most: int) -> IntArray:
    """Return at most ``most`` of the given rows: those whose keys have the smallest hashes."""
    return rows if rows.size <= most else rows[hash_order(view.key_array_of(rows))[:most]]
