"""What a graph says of nodes and classes: the signals that graft weighs."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.memo import Memo
from nodegraft.graph.algebra.matrix import IntArray, gram
from nodegraft.graph.keys import hash_order
from nodegraft.graph.spread import SpreadFeatures, SpreadRows
from nodegraft.graph.stores.shelf import Shelf
from nodegraft.graph.view import GraphView
from nodegraft.nn.confidence import known_class_probability
from nodegraft.nn.linear.frozen_ridge import FrozenRidge
from nodegraft.nn.linear.loglinear import Signals
from nodegraft.nn.mixture import responsibilities
from nodegraft.training.class_vectors import ClassVectors
from nodegraft.training.first_classes import FirstClasses, regressed, regressed_narrow
from nodegraft.training.label_means import LabelMeans
from nodegraft.training.taught import Floats, Known, Taught

FLOOR = 0.1
"""Added to a node's share of a class's walks, and to its score in the regression, before logarithms
are taken: not being reached is a hint, not a proof."""

RESTARTS = (0.3, 0.15, 0.05, 0.02)
"""The chances that a walk ends at each step: smaller ones look further away."""

RIDGE_LABELS, MOST_RIDGE_LABELS = 60, 3000
"""So many labels of each first class, and of all together, take part in the regression."""

NARROW = 4
"""Dense rows with so many times fewer columns, in all hops, than there are labels in the regression
are regressed by columns instead of labels."""

PENALTY = 0.03
"""Of the regression, in which rows have length 1."""

SIMILARITY, WALKS, DIRECTED, WORDS, RIDGE, SCARCE = 10.0, 0.6, 0.5, 0.2, 1.0, 0.4
"""What cosines, walks, cosines by direction, words, regression and the term for few labels weigh
without practice."""

POOL, NEAR = 4096, 100
"""How many unlabelled nodes refine means: a fair sample, and near each class with few labels."""


class Evidence:
    """The signals of one view of a graph.

    Args:
        features: What may be seen, kinds of edges weighed: the rows of each node.
        background: For each hop the mean row of all nodes; no rows for features without words.
        restarts: How often walks end; none for no walks.
        ridge: Whether a regression among the first classes counts.
        few_labels: Whether classes with few labels are made up for.
        means: Where labels lie on average, as far as it is known already.
    """

    def __init__(
        self,
        features: SpreadFeatures,
        background: Floats,
        restarts: Sequence[float],
        ridge: bool = True,
        few_labels: bool = True,
        means: LabelMeans | None = None,
    ) -> None:
        self.view = features.view
        self.features = features
        self.restarts = restarts
        self._background = background
        self._ridge = ridge
        self._few_labels = few_labels
        self._means = LabelMeans(features) if means is None else means
        self._ridges = Memo[FrozenRidge](most=1)
        self._products: tuple[IntArray, Floats] = (self.view.rows[:0], np.zeros((0, 0)))

    def grown(self, view: GraphView) -> "Evidence | None":
        """The same of a graph that has grown; None for another graph.

        Means are taken over of labels whose rows are still the same.

        Args:
            view: What may be seen of the graph now, kinds of edges weighed.
        """
        growth = view.growth_since(self.view)
        if growth is None:
            return None
        features = self.features.grown(view, growth)
        means = self._means.grown(features, self.features.stale(growth))
        return Evidence(
            features, self._background, self.restarts, self._ridge, self._few_labels, means
        )

    @property
    def layers(self) -> range:
        """The numbers of the layers of rows."""
        return self.features.layers

    @property
    def worded(self) -> list[int]:
        """The hops whose words are compared with the background."""
        return sorted({0, self.features.hops}) if len(self._background) else []

    @property
    def num_fixed(self) -> int:
        """How many signals come first: those that refined means do not change."""
        return len(self.restarts) + self._ridge

    def taught(self, labels: Sequence[IntArray], counts: NDArray[np.int64]) -> Taught:
        """Classes by their labels; means met before are looked up.

        Args:
            labels: The rows of each class's labels.
            counts: How many labels each class has, those beyond ``labels`` too.
        """
        starts = tuple(np.sort(rows) for rows in labels)
        return Taught(counts, starts, self._means.of(starts))

    def first_classes(
        self, taught: Taught, columns: NDArray[np.int64], practice: bool = False
    ) -> FirstClasses:
        """What some classes fix for those that come later.

        Args:
            taught: All classes.
            columns: Where the first ones stand.
            practice: Whether inner products may be those made for more labels: faster, but their
                last bits depend on which.
        """
        centre = tuple(one[columns].mean(axis=0) for one in taught.means)
        if not self._ridge:
            return FirstClasses(centre, None)
        most = max(1, min(RIDGE_LABELS, MOST_RIDGE_LABELS // columns.size))
        labels = [fair_sample(self.view, taught.labels[column], most) for column in columns]
        owners = np.repeat(np.arange(columns.size), [rows.size for rows in labels])
        order = np.argsort(np.concatenate(labels), kind="stable")
        rows, owners = np.concatenate(labels)[order], owners[order]
        near = self._means.rows(rows)
        if not practice and self._is_narrow(rows.size):
            means = taught.means
            found = regressed_narrow(self.features, near, owners, means, columns, PENALTY)
            return FirstClasses(centre, found)
        ridge = self._ridges.get(
            (practice, rows.tobytes(), owners.tobytes()),
            lambda: self._regression(rows, owners, practice),
        )
        return FirstClasses(centre, regressed(ridge, self.features, near, taught.means, columns))

    def _is_narrow(self, labels: int) -> bool:
        width = len(self.features.powers) * self.view.num_features
        return not self.view.has_sparse_features and NARROW * width <= labels

    def _regression(self, rows: IntArray, owners: NDArray[np.int64], practice: bool) -> FrozenRidge:
        """Among some labels; outside of practice it is looked for on the graph's shelf."""
        shelf = Shelf() if practice else self.features.shelf
        depends_on = "regression", [PENALTY], rows, owners
        kept = shelf.get(*depends_on)
        if kept is not None:
            return FrozenRidge.from_state(kept, PENALTY)
        made = FrozenRidge.solved(self._inner_products(rows, practice), owners, PENALTY)
        if shelf.keeps:
            shelf.put(made.state(), *depends_on)
        return made

    def _inner_products(self, rows: IntArray, practice: bool) -> Floats:
        """Of the rows of all hops side by side, of length 1; the last ones are kept."""
        made_for, products = self._products
        enough = np.isin(rows, made_for).all() if practice else np.array_equal(rows, made_for)
        if not enough:
            layers = islice(self.features.formed(rows), len(self.features.powers))
            made_for, products = rows, np.mean([gram(one) for one in layers], axis=0)
            self._products = made_for, products
        places = np.searchsorted(made_for, rows)
        return products[np.ix_(places, places)]

    def known(self, taught: Taught, first: FirstClasses, practice: bool = False) -> Known:
        """Classes made ready for asking about nodes: worth keeping for as long as they stay.

        Args:
            taught: The classes.
            first: What those that came first fix.
            practice: Whether nobody will ask about them again.
        """
        means = taught.means if taught.refined is None else taught.refined
        walks = None
        if self.restarts:
            walks = self.view.walked(taught.labels, self.restarts, lasting=not practice)
        vectors = self._vectors(means, first.centre, first.regression)
        return Known(vectors, taught.labels, walks, self._few_labels * taught.scarcity)

    def _vectors(
        self,
        means: Sequence[Floats],
        centre: Sequence[Floats],
        regression: Sequence[Floats] | None = None,
    ) -> list[ClassVectors]:
        return [
            ClassVectors.of_means(
                self.features,
                layer,
                means[layer],
                centre[layer],
                self._background[layer] if layer in self.worded else None,
                regression[layer] if regression and layer in self.features.powers else None,
            )
            for layer in self.layers
        ]

    def signals(self, near: SpreadRows, rows: IntArray, known: Known) -> Signals:
        """All signals of some nodes, signal x node x class; see :meth:`names`.

        Args:
            near: The nodes.
            rows: The same by row number.
            known: The classes.
        """
        compared = [one.compared(near) for one in known.vectors]
        found: list[Floats] = []
        if known.walks:
            found += list(np.log(known.walks.shares(self.view.positions(rows)) + FLOOR))
        parts = [one.regression for one in compared if one.regression is not None]
        if parts:
            found.append(np.log(np.maximum(np.sum(parts, axis=0), 0.0) + FLOOR))
        found += [one.cosines for one in compared]
        found += [one.words for one in compared if one.words is not None]
        return np.stack([*found, np.broadcast_to(known.scarcity, found[-1].shape)])

    def refreshed(
        self, signals: Signals, near: SpreadRows, taught: Taught, centre: Sequence[Floats]
    ) -> Signals:
        """The same, after the refined means of some classes have changed.

        Args:
            signals: As they were.
            near: The nodes.
            taught: The classes.
            centre: For each layer one row.
        """
        few = taught.few
        if not few.size or taught.refined is None:
            return signals
        means = [one[few] for one in taught.refined]
        compared = [one.compared(near) for one in self._vectors(means, centre)]
        changed = [one.cosines for one in compared]
        changed += [one.words for one in compared if one.words is not None]
        signals = signals.copy()
        signals[-1 - len(changed) : -1, :, few] = np.stack(changed)
        return signals

    def names(self) -> list[str]:
        """What each signal is, for a person to read."""
        away = ["own features", *(f"features {hop} away" for hop in self.features.powers[1:])]
        if self.features.directions:
            away += ["features that edges lead to", "features that edges come from"]
        return [
            *(f"walks, {100 * restart:g} % end a step" for restart in self.restarts),
            *["regression"] * self._ridge,
            *away,
            *("own words" if hop == 0 else f"words {hop} away" for hop in self.worded),
            "few labels",
        ]

    def usual_weights(self) -> Floats:
        """Weights where there is nothing to practise on: about what four real graphs came to."""
        hops, walks, words = len(self.features.powers), len(self.restarts), len(self.worded)
        fixed = [WALKS / max(walks, 1)] * walks + [RIDGE] * self._ridge
        similar = [SIMILARITY / hops] * hops + [DIRECTED] * len(self.features.directions)
        return np.array([*fixed, *similar, *[WORDS] * words, SCARCE])

    def sample(self, without: IntArray) -> IntArray:
        """Nodes that stand for all unlabelled ones.

        Args:
            without: Rows that must not be taken; labels among them.
        """
        return self.view.sampled(POOL, without)

    def pool(self, taught: Taught, sample: IntArray, without: IntArray) -> IntArray:
        """Unlabelled nodes that means are refined by: a fair sample, and near few labels.

        Args:
            taught: The classes.
            sample: What :meth:`sample` gave.
            without: Rows that must not be taken; labels among them.
        """
        parts = [sample]
        if self.restarts:
            starts = [taught.labels[column] for column in taught.few]
            parts += self.view.nearest(starts, NEAR, self.restarts)
        return np.setdiff1d(np.concatenate(parts), without)

    def refined(self, taught: Taught, near: SpreadRows, scores: Floats, open_set: Floats) -> Taught:
        r""":math:`q_c = \frac{\sum_{labels} z + \sum_i k_i r_{ic} z_i}{n_c + \sum_i k_i r_{ic}}`,
        for classes with few labels.

        :math:`k_i` is the chance that a node is of a known class at all: strangers must not move
        the mean of a class that they resemble least badly.

        Args:
            taught: The classes.
            near: The unlabelled nodes.
            scores: Their scores.
            open_set: How scores become that chance.
        """
        few = taught.few
        known = known_class_probability(scores, open_set)
        shares = responsibilities(scores)[:, few] * known[:, None]
        counts, added = taught.counts[few][:, None], shares.sum(axis=0)[:, None]
        refined = []
        for layer in self.layers:
            means = taught.means[layer].copy()
            means[few] = (counts * means[few] + near.sums(layer, shares)) / (counts + added)
            refined.append(means)
        gained = np.zeros(taught.counts.size)
        gained[few] = added[:, 0]
        return replace(taught, refined=tuple(refined), gained=gained)


def fair_sample(view: GraphView, rows: IntArray, most: int) -> IntArray:
    """At most so many rows, those with the smallest hashes of their keys.

    Args:
        view: What may be seen.
        rows: Row numbers.
        most: How many.
    """
    return rows if rows.size <= most else rows[hash_order(view.key_array_of(rows))[:most]]
