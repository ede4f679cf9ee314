"""Computation of signals on a view of a graph: class vectors, signal values and refined means."""

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
"""Ridge penalties of the regressions on hops and on edge types, for rows of length 1."""

POOL = 4096
"""Maximum number of unlabelled nodes that refine means: random ones, and near small classes."""

NEAR = 100
"""Number of nodes taken near each class with few labels; fewer if :data:`POOL` is reached."""


class Evidence:
    """Signals of one view of a graph, with all their inputs except the classes.

    Args:
        features: Propagated features of all nodes, in a view with weighted edge types.
        background: For each hop, the mean row of all nodes; no rows if word signals are off.
        times: Diffusion times; empty if diffusion is off.
        even_times: Indices of the diffusion times at which heat is almost even and small
            differences have a large weight. The mean heat of these times excludes peaks.
        ridge: Whether the regression among the first classes is used.
        few_labels: Whether the term for few labels is used.
        means: Cache of label means to reuse; None to create a new cache.
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
        """All signals, in the order of their weights."""

    def grown(self, view: GraphView) -> "Evidence | None":
        """Return the evidence of a graph that has grown; it reuses the means of unchanged rows.

        Args:
            view: Visible part of the grown graph, with weighted edge types.

        Returns:
            The new evidence; None if the new graph is not an extension of the old graph.
        """
        growth = view.growth_since(self.view)
        if growth is None:
            return None
        features = self.features.grown(view, growth)
        means = self._means.grown(features, self.features.stale(growth))
        return Evidence(features, *self._options, means)

    def for_rows(self, view: RowsView) -> "Evidence":
        """Return the evidence for scoring rows that are not in the graph."""
        own = self.features
        features = SpreadFeatures(view, own.hops, own.columns, bool(own.directions), own.blocks)
        return Evidence(features, *self._options, self._means)

    # The next methods compute class data.

    def labelled(
        self,
        labels: Sequence[IntArray],
        counts: NDArray[np.int64],
        first: NDArray[np.int64],
        practice: bool = False,
    ) -> LabelledClasses:
        """Compute mean rows of each class's labels, and regressions among the first classes.

        Args:
            labels: Row numbers of the labels used for each class.
            counts: Number of labels of each class, including those not in ``labels``.
            first: Indices of the first classes, which define the centre and the regressions.
            practice: Whether cached inner products of a larger set of labels may be reused. This is
                faster, but the rounding then depends on the larger set.
        """
        starts = tuple(np.sort(rows) for rows in labels)
        means = self._means.of(starts)
        centre = tuple(means[layer][first].mean(axis=0) for layer in self.features.layers)
        weights = [
            regression.weights(starts, means, first, practice) for regression in self._regressions
        ]
        return LabelledClasses(counts, starts, means, centre, weights)

    def class_vectors(self, classes: LabelledClasses, lasting: bool = False) -> ClassVectors:
        """Return the class vectors that signals compare nodes with.

        Args:
            classes: Labelled classes; their refined means are used if there are any.
            lasting: Whether to cache heat on disk for later processes.
        """
        means = classes.means if classes.refined is None else classes.refined
        vectors = ClassVectors.of_means(self.features, means, classes.centre, self._background)
        regressions = zip(REGRESSIONS, self._regressions, classes.regressions, strict=True)
        return replace(
            vectors,
            vectors=vectors.vectors
            | {
                kind: dict(zip(regression.layers, map(self.features.weighted, rows), strict=True))
                for kind, regression, rows in regressions
            },
            starts=classes.labels,
            heat=self.heat(classes.labels, lasting) if self.times else None,
            scarcity=self._few_labels * classes.scarcity,
        )

    def heat(self, starts: Sequence[IntArray], lasting: bool = False) -> DiffusionTable:
        """Return the heat that diffuses from sets of nodes to all nodes.

        Args:
            lasting: Whether to cache the heat on disk for later processes.
        """
        table = self.view.diffusion(starts, self.times, lasting)
        return table.without_peaks(np.array(self.even_times)) if self.even_times else table

    # The next methods compute values of signals.

    def nodes(self, rows: IntArray) -> NodeBatch:
        """Return a batch of nodes with the features from which signals are computed.

        Args:
            rows: Row numbers of the nodes, ascending and without duplicates.
        """
        return NodeBatch(self.features.rows(rows), self.view.positions(rows))

    def values(self, nodes: NodeBatch, classes: ClassVectors, dtype: type = np.float64) -> Signals:
        """Return the values of all signals: signal x node x class."""
        signals: Signals = np.empty((len(self.signals), len(nodes), classes.scarcity.size), dtype)
        for part, piece in nodes.pieces():
            for place, signal in zip(signals, self.signals, strict=True):
                place[part] = signal.values(piece, classes)
        return signals

    def refresh(
        self, signals: Sequence[Signal], values: Signals, nodes: NodeBatch, classes: LabelledClasses
    ) -> None:
        """Update, in place, the signal values that depend on refined means.

        Args:
            signals: Signals, in the order of ``values``.
            values: Signal values to update: signal x node x class.
            nodes: Nodes to which ``values`` belong.
        """
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

    # The next methods use unlabelled nodes.

    def sample(self, without: IntArray) -> IntArray:
        """Return a random sample of the unlabelled nodes.

        Args:
            without: Row numbers to exclude, such as labels.
        """
        return self.view.sampled(POOL, without)

    def pool(self, classes: LabelledClasses, sample: IntArray, without: IntArray) -> IntArray:
        """Return the unlabelled nodes that are used to refine class means.

        Args:
            classes: Classes; nodes near classes with few labels are added to the sample.
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
        r"""Return the classes; the means of classes with few labels are refined:

        .. math:: q_c = \frac{\sum_{labels} z + \sum_i k_i r_{ic} z_i}{n_c + \sum_i k_i r_{ic}}

        with :math:`r_{ic}` times :attr:`LabelledClasses.refinement`. :math:`k_i` is the chance that
        a node belongs to a known class: nodes of unknown classes must not change the mean of the
        class that they resemble most.
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
