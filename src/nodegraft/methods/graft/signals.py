"""What a graph says of nodes and classes: the signals that graft weighs."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.graph.propagation.spread import SpreadFeatures, SpreadRows
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.class_vectors import BlockVectors, ClassVectors
from nodegraft.methods.graft.classes import FirstClasses, Floats, Known, Taught
from nodegraft.methods.graft.confidence import known_class_probability
from nodegraft.methods.graft.label_means import LabelMeans
from nodegraft.methods.graft.mixture import responsibilities
from nodegraft.methods.graft.regression import Regression
from nodegraft.methods.linear.loglinear import Signals

FLOOR = 0.1
"""Added to a node's share of a class's heat, and to its score in the regression, before logarithms
are taken: no heat is a hint, not a proof."""

TIMES = (2.0, 8.0, 32.0, 128.0)
"""Diffusion times: longer ones look further away."""

STEEP = 5.0
"""A diffusion time with a larger weight has almost even heat: on real graphs weights are up to 1.5,
on large random graphs 40. A label without edges would lower the scores of its class everywhere
else by its share of the heat, times this weight."""

NEAR_TIMES = 2
"""How many of them stay near the labels."""

PENALTY, TYPED_PENALTY = 0.03, 0.01
"""Of the regression on hops and of that on edge types, in which rows have length 1."""

SIMILARITY, HEAT, DIRECTED, WORDS, RIDGE, SCARCE = 10.0, 0.6, 0.5, 0.2, 1.0, 0.4
"""Weights of cosines, diffusion, cosines by direction, words, regression and the term for few
labels without practice; there is no regression by edge type then."""

HEAT_ALONE = 2.4
"""Weight of diffusion without practice where nodes have no features: nothing else speaks for a
class then, and the term for few labels must not decide alone."""

POOL = 4096
"""How many unlabelled nodes refine means: so many of a fair sample, and so many at most that are
near classes with few labels."""

NEAR = 100
"""How many nodes near each class with few labels, unless there are so many classes that together
they would be more than :data:`POOL`."""


class Evidence:
    """The signals of one view of a graph.

    Args:
        features: What may be seen, kinds of edges weighed: the rows of each node.
        background: For each hop the mean row of all nodes; no rows for features without words.
        times: Diffusion times; none for no diffusion.
        even_times: Which of them have almost even heat, so that its differences weigh much: peaks
            are left out of the mean that it is compared with.
        ridge: Whether a regression among the first classes counts.
        few_labels: Whether classes with few labels are made up for.
        means: Where labels lie on average, as far as it is known already.
    """

    def __init__(
        self,
        features: SpreadFeatures,
        background: Floats,
        times: Sequence[float],
        even_times: Sequence[int] = (),
        ridge: bool = True,
        few_labels: bool = True,
        means: LabelMeans | None = None,
    ) -> None:
        self.view = features.view
        self.features = features
        self.times = tuple(times)
        self.even_times = tuple(even_times)
        self._background = background
        self._few_labels = few_labels
        self._means = LabelMeans(features) if means is None else means
        self.ridge = ridge
        """Whether a regression among the first classes counts."""
        penalties = (
            (features.powers if ridge else (), PENALTY),
            (features.block_layers, TYPED_PENALTY),
        )
        self._regressions = [
            Regression(features, self._means, layers, penalty) if layers else None
            for layers, penalty in penalties
        ]

    def grown(self, view: GraphView) -> "Evidence | None":
        """The same of a graph that has grown; None for another graph.

        Means are taken over of labels whose rows are still the same; the view keeps heat.

        Args:
            view: What may be seen of the graph now, kinds of edges weighed.
        """
        growth = view.growth_since(self.view)
        if growth is None:
            return None
        features = self.features.grown(view, growth)
        means = self._means.grown(features, self.features.stale(growth))
        times = self.times, self.even_times
        return Evidence(features, self._background, *times, self.ridge, self._few_labels, means)

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
        return len(self.times) + self.ridge + bool(self.features.blocks)

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
        regressions = [
            None if one is None else one.weights(taught, columns, practice)
            for one in self._regressions
        ]
        return FirstClasses(centre, *regressions)

    def known(self, taught: Taught, first: FirstClasses, practice: bool = False) -> Known:
        """Classes made ready for asking about nodes: worth keeping for as long as they stay.

        Args:
            taught: The classes.
            first: What those that came first fix.
            practice: Whether nobody will ask about them again.
        """
        means = taught.means if taught.refined is None else taught.refined
        heat = self.heat(taught.labels, lasting=not practice) if self.times else None
        vectors = self._vectors(means, first.centre, first.regression)
        typed = None
        if first.typed is not None:
            typed = BlockVectors.of_weights(self.features, first.typed)
        return Known(vectors, typed, taught.labels, heat, self._few_labels * taught.scarcity)

    def heat(self, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        """Return the heat from sets of rows at all nodes.

        Args:
            starts: The sets.
            lasting: Whether the next process will ask the same.
        """
        table = self.view.diffusion(starts, self.times, lasting)
        return table.without_peaks(np.array(self.even_times)) if self.even_times else table

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

    def signals(
        self, near: SpreadRows, rows: IntArray, known: Known, dtype: type = np.float64
    ) -> Signals:
        """All signals of some nodes, signal x node x class; see :meth:`names`.

        Args:
            near: The nodes.
            rows: The same by row number.
            known: The classes.
            dtype: Of the result.
        """
        found: Signals = np.empty((len(self.names()), rows.size, known.scarcity.size), dtype)
        fixed, words = iter(found), iter(found[self.num_fixed + len(self.layers) :])
        if known.heat:
            for shares in known.heat.shares(self.view.positions(rows)):
                np.log(shares + FLOOR, out=next(fixed), casting="same_kind")
        regression = np.zeros(found.shape[1:])
        for one, cosines in zip(known.vectors, found[self.num_fixed :], strict=False):
            compared = one.compared(near)
            cosines[:] = compared.cosines
            if compared.words is not None:
                next(words)[:] = compared.words
            if compared.regression is not None:
                regression += compared.regression
        if self.ridge:
            next(fixed)[:] = np.log(np.maximum(regression, 0.0) + FLOOR)
        if known.typed:
            next(fixed)[:] = np.log(np.maximum(known.typed.scores(near), 0.0) + FLOOR)
        found[-1] = known.scarcity
        return found

    def refresh(
        self, signals: Signals, near: SpreadRows, taught: Taught, centre: Sequence[Floats]
    ) -> None:
        """Change signals in place, after the refined means of some classes have changed.

        Args:
            signals: As they were; those that means play a part in are replaced.
            near: The nodes.
            taught: The classes.
            centre: For each layer one row.
        """
        few = taught.few
        if not few.size or taught.refined is None:
            return
        columns = slice(None) if few.size == taught.counts.size else few
        # The last ones, before the label scarcity: of the others practice may have left some out.
        changed = signals[-1 - len(self.layers) - len(self.worded) : -1]
        words = iter(changed[len(self.layers) :])
        vectors = self._vectors([one[few] for one in taught.refined], centre)
        for one, cosines in zip(vectors, changed, strict=False):
            compared = one.compared(near)
            cosines[:, columns] = compared.cosines
            if compared.words is not None:
                next(words)[:, columns] = compared.words

    def names(self) -> list[str]:
        """What each signal is, for a person to read."""
        away = ["own features", *(f"features {hop} away" for hop in self.features.powers[1:])]
        if self.features.directions:
            away += ["features that edges lead to", "features that edges come from"]
        return [
            *(f"diffusion, time {time:g}" for time in self.times),
            *["regression"] * self.ridge,
            *["regression by edge type"] * bool(self.features.blocks),
            *away,
            *("own words" if hop == 0 else f"words {hop} away" for hop in self.worded),
            "few labels",
        ]

    def usual_weights(self) -> Floats:
        """Weights where there is nothing to practise on: about what four real graphs came to."""
        hops, times, words = len(self.features.powers), len(self.times), len(self.worded)
        heat = HEAT if self.view.num_features else HEAT_ALONE
        fixed = [heat / max(times, 1)] * times + [RIDGE] * self.ridge
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
        if self.times:
            starts = [taught.labels[column] for column in taught.few]
            each = min(NEAR, max(1, POOL // len(starts)))
            parts += self.view.nearest(starts, each, self.times)
        return np.setdiff1d(np.concatenate(parts), without)

    def refined(self, taught: Taught, near: SpreadRows, scores: Floats, open_set: Floats) -> Taught:
        r""":math:`q_c = \frac{\sum_{labels} z + \sum_i k_i r_{ic} z_i}{n_c + \sum_i k_i r_{ic}}`,
        for classes with few labels; :math:`r_{ic}` times :attr:`Taught.refinement`.

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
        shares = responsibilities(scores)[:, few] * known[:, None] * taught.refinement[few]
        counts, added = taught.counts[few][:, None], shares.sum(axis=0)[:, None]
        refined = []
        for layer in self.layers:
            means = taught.means[layer].copy()
            means[few] = (counts * means[few] + near.sums(layer, shares)) / (counts + added)
            refined.append(means)
        gained = np.zeros(taught.counts.size)
        gained[few] = added[:, 0]
        return replace(taught, refined=tuple(refined), gained=gained)
