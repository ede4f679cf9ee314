"""Evidence of one view of a graph: vectors of classes, values of signals, refined means."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.graph.propagation.set_mass import DiffusionTable
from nodegraft.graph.propagation.spread import SpreadFeatures
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.classes import ClassVectors, Floats, LabelledClasses, LabelMeans
from nodegraft.methods.graft.confidence import known_class_probability, responsibilities
from nodegraft.methods.graft.regression import Regression
from nodegraft.methods.graft.signals import NodeBatch, Signal, list_signals
from nodegraft.methods.linear.loglinear import Signals

REGRESSIONS = {"regression": 0.03, "edge types": 0.01}
"""Penalties of the regression on hops and of that on edge types, in which rows have length 1."""

POOL = 4096
"""Number of unlabelled nodes that refine means: this many of a fair sample, and at most this many
near classes with few labels."""

NEAR = 100
"""Number of nodes near each class with few labels, unless together they would be more than
:data:`POOL`."""


class Evidence:
    """Signals of one view of a graph, and all that they are computed from but the classes.

    Args:
        features: Rows of all nodes, in a view whose edge types are weighted.
        background: For each hop the mean row of all nodes; no rows where words are not compared.
        times: Diffusion times; none for no diffusion.
        even_times: Numbers of those with almost even heat, whose differences have a large weight:
            peaks are left out of the mean that heat is compared with.
        ridge: Whether a regression among the first classes counts.
        few_labels: Whether the term for few labels counts.
        means: Means of labels that are already known.
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
        self.times, self.even_times = tuple(times), tuple(even_times)
        self._options = background, self.times, self.even_times, ridge, few_labels
        self._few_labels = few_labels
        self._means = LabelMeans(features) if means is None else means
        word_layers = sorted({0, features.hops}) if len(background) else []
        self._background = {layer: background[layer] for layer in word_layers}
        self._regressions = [
            Regression(features, self._means, layers, penalty)
            for layers, penalty in zip(
                (features.powers if ridge else (), features.block_layers),
                REGRESSIONS.values(),
                strict=True,
            )
        ]
        self.signals = list_signals(
            times=self.times,
            hops=features.hops,
            directed=bool(features.directions),
            word_layers=word_layers,
            ridge=ridge,
            edge_types=bool(features.blocks),
            has_features=features.view.num_features > 0,
        )
        """All signals."""

    def grown(self, view: GraphView) -> "Evidence | None":
        """Return the evidence of a graph that has grown, reusing means whose rows did not change.

        Args:
            view: Visible part of the graph now, with weighted edge types.

        Returns:
            None if the graph did not grow from the one of this evidence.
        """
        growth = view.growth_since(self.view)
        if growth is None:
            return None
        features = self.features.grown(view, growth)
        means = self._means.grown(features, self.features.stale(growth))
        return Evidence(features, *self._options, means)

    def for_rows(self, view: RowsView) -> "Evidence":
        """Return the evidence of rows that are not in the graph, without means of labels."""
        own = self.features
        features = SpreadFeatures(view, own.hops, own.columns, bool(own.directions), own.blocks)
        return Evidence(features, *self._options, self._means)

    # Classes.

    def labelled(
        self,
        labels: Sequence[IntArray],
        counts: NDArray[np.int64],
        first: NDArray[np.int64],
        practice: bool = False,
    ) -> LabelledClasses:
        """Return classes with the mean rows of their labels, and regressions among the first ones.

        Args:
            counts: Number of labels of each class, including those not in ``labels``.
            first: Numbers of the first classes, which fix the centre and the regressions.
            practice: Whether inner products of other labels may be reused: faster, but the last
                bits depend on which.
        """
        starts = tuple(np.sort(rows) for rows in labels)
        means = self._means.of(starts)
        centre = tuple(means[layer][first].mean(axis=0) for layer in self.features.layers)
        weights = [
            regression.weights(starts, means, first, practice) for regression in self._regressions
        ]
        return LabelledClasses(counts, starts, means, centre, weights)

    def class_vectors(self, classes: LabelledClasses, lasting: bool = False) -> ClassVectors:
        """Return the vectors that nodes are compared with.

        Args:
            lasting: Whether to store heat, so that the next process finds it.
        """
        means = classes.means if classes.refined is None else classes.refined
        vectors = ClassVectors.of_means(self.features, means, classes.centre, self._background)
        regressions = zip(REGRESSIONS, self._regressions, classes.regressions, strict=True)
        return replace(
            vectors,
            vectors=vectors.vectors
            | {
                kind: dict(zip(regression.layers, map(self.features.weighed, rows), strict=True))
                for kind, regression, rows in regressions
            },
            starts=classes.labels,
            heat=self.heat(classes.labels, lasting) if self.times else None,
            scarcity=self._few_labels * classes.scarcity,
        )

    def heat(self, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        """Return the heat from sets of rows at all nodes.

        Args:
            lasting: Whether to store it, so that the next process finds it.
        """
        table = self.view.diffusion(starts, self.times, lasting)
        return table.without_peaks(np.array(self.even_times)) if self.even_times else table

    # Values of signals.

    def nodes(self, rows: IntArray) -> NodeBatch:
        """Return nodes as signals see them.

        Args:
            rows: Row numbers, each once and ascending.
        """
        return NodeBatch(self.features.rows(rows), self.view.positions(rows))

    def values(self, nodes: NodeBatch, classes: ClassVectors, dtype: type = np.float64) -> Signals:
        """Return the values of all signals: signal x node x class."""
        found: Signals = np.empty((len(self.signals), len(nodes), classes.scarcity.size), dtype)
        for part, piece in nodes.pieces():
            for place, signal in zip(found, self.signals, strict=True):
                place[part] = signal.values(piece, classes)
        return found

    def refresh(
        self, signals: Sequence[Signal], values: Signals, nodes: NodeBatch, classes: LabelledClasses
    ) -> None:
        """Replace, in place, the values that refined means change."""
        few = classes.few
        if not few.size or classes.refined is None:
            return
        columns = slice(None) if few.size == classes.counts.size else few
        refined = [means[few] for means in classes.refined]
        vectors = ClassVectors.of_means(self.features, refined, classes.centre, self._background)
        for part, piece in nodes.pieces():
            for signal, place in zip(signals, values, strict=True):
                if signal.uses_means:
                    place[part, columns] = signal.values(piece, vectors)

    # Unlabelled nodes.

    def sample(self, without: IntArray) -> IntArray:
        """Return a fair sample of the unlabelled nodes.

        Args:
            without: Rows that must not be in it, such as labels.
        """
        return self.view.sampled(POOL, without)

    def pool(self, classes: LabelledClasses, sample: IntArray, without: IntArray) -> IntArray:
        """Return the unlabelled nodes that refine means: a fair sample, and nodes near few labels.

        Args:
            without: Rows that must not be in it, such as labels.
        """
        parts = [sample]
        if self.times:
            starts = [classes.labels[column] for column in classes.few]
            each = min(NEAR, max(1, POOL // len(starts)))
            parts += self.view.nearest(starts, each, self.times)
        return np.setdiff1d(np.concatenate(parts), without)

    def refined(
        self, classes: LabelledClasses, nodes: NodeBatch, scores: Floats, open_set: Floats
    ) -> LabelledClasses:
        r"""Return classes with refined means, of those that have few labels:

        .. math:: q_c = \frac{\sum_{labels} z + \sum_i k_i r_{ic} z_i}{n_c + \sum_i k_i r_{ic}}

        with :math:`r_{ic}` times :attr:`LabelledClasses.refinement`. :math:`k_i` is the chance that
        a node is of a known class: nodes of unknown classes must not move the mean of the class
        that they resemble most.
        """
        few = classes.few
        known = known_class_probability(scores, open_set)
        shares = responsibilities(scores)[:, few] * known[:, None] * classes.refinement[few]
        counts, added = classes.counts[few][:, None], shares.sum(axis=0)
        refined = []
        for layer in self.features.layers:
            means = classes.means[layer].copy()
            sums = counts * means[few] + nodes.features.sums(layer, shares)
            means[few] = sums / (counts + added[:, None])
            refined.append(means)
        all_added = np.zeros(classes.counts.size)
        all_added[few] = added
        return replace(classes, refined=tuple(refined), added=all_added)
