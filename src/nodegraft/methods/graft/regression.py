"""Ridge regression among the first classes' labels, which later classes join by their means."""

from collections.abc import Sequence
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import Memo
from nodegraft.graph.edges.matrix import IntArray, gram
from nodegraft.graph.keys import hash_order
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows
from nodegraft.graph.stores.protocol import Shelf
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.classes import Floats, Taught
from nodegraft.methods.graft.label_means import LabelMeans
from nodegraft.methods.linear.frozen_ridge import FrozenRidge
from nodegraft.methods.linear.primal_ridge import PrimalRidge

LABELS_PER_CLASS, MOST_LABELS = 60, 3000
"""So many labels of each first class, and of all together, take part."""

NARROW = 4
"""Dense rows with so many times fewer columns, in all layers, than there are labels are regressed
by columns instead of labels."""


class Regression:
    """A regression on some layers of rows side by side, together of length 1.

    Args:
        features: The rows of all nodes.
        means: Where labels lie on average.
        layers: Which layers, ascending.
        penalty: How strongly weights are drawn to zero.
    """

    def __init__(
        self, features: SpreadFeatures, means: LabelMeans, layers: Sequence[int], penalty: float
    ) -> None:
        self.layers = list(layers)
        """Which layers, ascending."""
        self._features = features
        self._means = means
        self._penalty = penalty
        self._ridges = Memo[FrozenRidge](most=1)
        self._products: tuple[IntArray, Floats] = (features.view.rows[:0], np.zeros((0, 0)))

    def weights(
        self, taught: Taught, first: NDArray[np.int64], practice: bool = False
    ) -> list[Floats]:
        """Return for each layer a row for each class: products with a node's rows add up to its
        score.

        Args:
            taught: All classes.
            first: Where the first ones stand.
            practice: Whether inner products may be those made for more labels: faster, but their
                last bits depend on which.
        """
        most = max(1, min(LABELS_PER_CLASS, MOST_LABELS // first.size))
        labels = [fair_sample(self._features.view, taught.labels[column], most) for column in first]
        owners = np.repeat(np.arange(first.size), [rows.size for rows in labels])
        order = np.argsort(np.concatenate(labels), kind="stable")
        rows, owners = np.concatenate(labels)[order], owners[order]
        near = self._means.rows(rows)
        if not practice and self._is_narrow(rows.size):
            return self._by_columns(near, owners, taught.means, first)
        ridge = self._ridges.get(
            (practice, rows.tobytes(), owners.tobytes()),
            lambda: self._solved(rows, owners, practice),
        )
        return self._by_labels(ridge, near, taught.means, first)

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
            across += labels.times(layer, self._features.weighed(joining))
            squares += np.einsum("ij,ij->i", means[layer][later], joining)
        shares = np.zeros((len(across), len(means[0])))
        shares[:, first] = ridge.coefficients
        shares[:, later], own = ridge.joined(across, squares)
        found = [labels.sums(layer, shares) / count for layer in self.layers]
        for layer, rows in zip(self.layers, found, strict=True):
            rows[later] += own[:, None] * (means[layer][later] / count)
        return found

    def _by_columns(
        self,
        labels: SpreadRows,
        owners: NDArray[np.int64],
        means: Sequence[Floats],
        first: NDArray[np.int64],
    ) -> list[Floats]:
        """The same of rows that are dense and narrow."""
        layers, root = self.layers, np.sqrt(len(self.layers))
        side_by_side = np.hstack([labels.dense(layer) for layer in layers]) / root
        ridge = PrimalRidge.solved(side_by_side, owners, self._penalty)
        later = np.setdiff1d(np.arange(len(means[0])), first)
        weights = np.zeros((len(means[0]), ridge.weights.shape[1]))
        weights[first] = ridge.weights
        weights[later] = ridge.joined(np.hstack([means[layer][later] for layer in layers]) / root)
        return np.split(weights / root, len(layers), axis=1)

    def _is_narrow(self, labels: int) -> bool:
        view = self._features.view
        width = len(self.layers) * view.num_features
        return not view.has_sparse_features and NARROW * width <= labels

    def _solved(self, rows: IntArray, owners: NDArray[np.int64], practice: bool) -> FrozenRidge:
        """Among some labels; outside of practice it is looked for on the graph's shelf."""
        shelf = Shelf() if practice else self._features.shelf
        depends_on = "regression", self.layers, [self._penalty], rows, owners
        kept = shelf.get(*depends_on)
        if kept is not None:
            return FrozenRidge.from_state(kept, self._penalty)
        made = FrozenRidge.solved(self._inner_products(rows, practice), owners, self._penalty)
        if shelf.keeps:
            shelf.put(made.state(), *depends_on)
        return made

    def _inner_products(self, rows: IntArray, practice: bool) -> Floats:
        """Of the rows of all layers side by side; the last ones are kept."""
        made_for, products = self._products
        enough = np.isin(rows, made_for).all() if practice else np.array_equal(rows, made_for)
        if not enough:
            layers = self._features.formed(rows, self.layers)
            # One after the other: each is as large as all of them together.
            made_for, products = rows, reduce(np.add, map(gram, layers)) / len(self.layers)
            self._products = made_for, products
        places = np.searchsorted(made_for, rows)
        return products[np.ix_(places, places)]


def fair_sample(view: GraphView, rows: IntArray, most: int) -> IntArray:
    """At most so many rows, those with the smallest hashes of their keys.

    Args:
        view: What may be seen.
        rows: Row numbers.
        most: How many.
    """
    return rows if rows.size <= most else rows[hash_order(view.key_array_of(rows))[:most]]
