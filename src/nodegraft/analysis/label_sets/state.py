"""Snapshot of a version whose nodes may have several labels, and its predictions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.analysis.prediction_table import node_column
from nodegraft.analysis.predictions import Missing, column_type, found_rows
from nodegraft.analysis.results.label_sets import NodeClass, NodeClasses
from nodegraft.base.memo import Memo
from nodegraft.base.tabular import Tabular
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, KeyType
from nodegraft.methods.multi_label.labels import LabelSets
from nodegraft.methods.multi_label.model import MultiLabel
from nodegraft.model.confidence import World

BLOCK = 20_000
"""Number of nodes that are predicted at once."""

SAMPLE = 5_000
"""Maximum number of nodes on which two versions are compared; selected by the hash of their keys.
Their scores take time in proportion to all labelled nodes."""


class PredictedSample(NamedTuple):
    """Predicted classes of a sample of nodes."""

    keys: list[Key]
    """Keys of the nodes."""

    names: tuple[str, ...]
    """All classes."""

    is_predicted: NDArray[np.bool_]
    """Whether each class is predicted: nodes x classes."""


@dataclass(frozen=True, repr=False)
class SetPredictions(Tabular):
    """Classes of the requested nodes, in the requested order."""

    nodes: list[Key]
    """Keys of the nodes."""

    names: tuple[str, ...]
    """All classes of the version."""

    probabilities: NDArray[np.float64]
    """P(the node has the class): nodes x classes. NaN for an unknown key."""

    thresholds: NDArray[np.float64]
    """Minimum probability of each class to be predicted."""

    is_label: NDArray[np.bool_]
    """Whether a user gave the node this label: nodes x classes."""

    ignore_labels: bool
    """Whether ``classes`` contains predicted classes only, and no labels."""

    version: int
    """Number of the version that made the predictions."""

    key_type: KeyType
    """Type of the column ``node``."""

    @property
    def is_found(self) -> NDArray[np.bool_]:
        """Whether each node is in the graph."""
        return ~np.isnan(self.probabilities[:, 0])

    @property
    def is_predicted(self) -> NDArray[np.bool_]:
        """Whether the probability of each class reaches its threshold: nodes x classes."""
        predicted: NDArray[np.bool_] = self.probabilities >= self.thresholds
        return predicted

    @property
    def classes(self) -> list[list[str]]:
        """Labels and predicted classes of each node, the most probable first; may be empty."""
        rows, columns = self._pairs
        names = np.array(self.names, dtype=object)[columns].tolist()
        ends = np.searchsorted(rows, np.arange(len(self)), "right").tolist()
        return [names[start:end] for start, end in pairwise((0, *ends))]

    @property
    def _pairs(self) -> tuple[IntArray, IntArray]:
        """Row and column of each listed class: node after node, the most probable class first."""
        order = np.argsort(-self.probabilities, axis=1, kind="stable")
        is_listed = self.is_predicted | self._is_own
        rows, places = np.nonzero(np.take_along_axis(is_listed, order, axis=1))
        return rows, order[rows, places]

    @property
    def _is_own(self) -> NDArray[np.bool_]:
        return self.is_label & (not self.ignore_labels)

    def to_results(self) -> list[NodeClasses]:
        """Return an object for each node, as the command line and HTTP return it."""
        is_found = self.is_found.tolist()
        results = [NodeClasses(*pair, []) for pair in zip(self.nodes, is_found, strict=True)]
        rows, columns = self._pairs
        probabilities = self.probabilities[rows, columns].tolist()
        is_own = self._is_own[rows, columns].tolist()
        thresholds = self.thresholds.tolist()
        pairs = zip(rows.tolist(), columns.tolist(), probabilities, is_own, strict=True)
        for row, column, probability, own in pairs:
            found = NodeClass(
                self.names[column],
                probability,
                thresholds[column],
                "own_label" if own else "prediction",
            )
            results[row].classes.append(found)
        return results

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row for each node and class.

        The columns are node, class, probability, threshold and reason. A node without any class has
        one row whose class is null.
        """
        rows, columns = self._pairs
        reasons = np.where(self._is_own[rows, columns], "own_label", "prediction")
        empty = np.setdiff1d(np.arange(len(self)), rows)
        without = np.where(self.is_found[empty], "no_class", "unknown_key")
        # A stable sort keeps the classes of a node in order.
        order = np.argsort(np.concatenate((rows, empty)), kind="stable")
        is_null = (np.arange(order.size) >= rows.size)[order]
        column = np.concatenate((columns, np.zeros_like(empty)))[order]
        row = np.concatenate((rows, empty))[order]
        classes = pa.array(self.names, pa.string()).take(pa.array(column, mask=is_null))
        table = {
            "node": node_column(self.nodes, self.key_type).take(pa.array(row)),
            "class": classes,
            "probability": pa.array(self.probabilities[row, column], mask=is_null),
            "threshold": pa.array(self.thresholds[column], mask=is_null),
            "reason": pa.array(np.concatenate((reasons, without))[order].tolist(), pa.string()),
        }
        return pa.table(table)


@dataclass(frozen=True)
class LabelSetState:
    """Graph and model of one version whose nodes may have several labels."""

    graph: Graph
    """Graph with all nodes and edges."""

    model: MultiLabel
    """Model with all labels."""

    _cache: Memo[PredictedSample] = field(default_factory=Memo, repr=False, compare=False)
    """Cache of the sample of predictions."""

    @property
    def sample(self) -> PredictedSample:
        """Predicted classes of a random sample of the nodes, computed once."""
        rows = self.graph.sampled(SAMPLE, self.graph.rows[:0])
        return self._cache.get("sample", lambda: self.predicted(self.graph.keys_of(rows)))

    def predicted(self, keys: list[Key]) -> PredictedSample:
        """Return the predicted classes of nodes.

        Args:
            keys: Keys of the nodes.
        """
        found = self.predict_keys(keys, version=0)
        return PredictedSample(keys, found.names, found.is_predicted)

    @property
    def labels(self) -> LabelSets:
        """Labels of the version."""
        return self.model.label_sets

    def relabelled(self, labels: LabelSets) -> "LabelSetState":
        """Return a state with new labels.

        Args:
            labels: New labels of all classes.
        """
        return LabelSetState(self.graph, self.model.with_labels(labels))

    def on(self, graph: Graph) -> "LabelSetState":
        """Return a state with a larger graph.

        Args:
            graph: New graph, which contains all labelled nodes.
        """
        return LabelSetState(graph, self.model.with_labels(self.labels))

    def in_world(self, world: World) -> "LabelSetState":
        """Return this state: a class is predicted for itself, so any node may have no class."""
        return self

    @property
    def label_of(self) -> dict[Key, tuple[str, ...]]:
        """Labels of every labelled node."""
        return self.labels.owners

    def predict(self, rows: IntArray) -> NDArray[np.float64]:
        """Return the probability that each node has each class: nodes x classes.

        Args:
            rows: Row numbers of the nodes.
        """
        return self.model.predict_proba(self.graph, self.graph.keys_of(rows))

    def predict_keys(
        self,
        nodes: Sequence[Key] | None,
        version: int,
        missing: Missing = "error",
        ignore_labels: bool = False,
    ) -> SetPredictions:
        """Return the classes of nodes as a single table.

        Args:
            nodes: Keys of the nodes; None for all.
            version: Number of this version.
            missing: How to treat keys that are not in the graph.
            ignore_labels: Whether to leave out labels that are not predicted.
        """
        rows: IntArray = self.graph.targets
        keys = None
        if nodes is not None:
            rows, keys = found_rows(self.graph, nodes, missing)
        (table,) = self.predict_in_blocks(rows, version, keys, ignore_labels, max(1, rows.size))
        return table

    def predict_in_blocks(
        self,
        rows: IntArray,
        version: int,
        keys: Sequence[Key] | None = None,
        ignore_labels: bool = False,
        block: int = BLOCK,
    ) -> Iterator[SetPredictions]:
        """Yield the classes of nodes in batches; at least one batch.

        Args:
            rows: Row numbers of the nodes; -1 for a key that is not in the graph.
            version: Number of this version.
            keys: Keys of the nodes; None to look them up, if no row number is -1.
            block: Number of nodes in a batch.
        """
        names = self.model.classes_
        thresholds = np.array(list(self.model.thresholds(self.graph).values()))
        column = {name: place for place, name in enumerate(names)}
        key_type = column_type(self.graph, keys)
        for start in range(0, max(1, rows.size), block):
            own, is_found = rows[start : start + block], rows[start : start + block] >= 0
            found = self.graph.keys_of(own[is_found])
            probabilities = np.full((own.size, len(names)), np.nan)
            probabilities[is_found] = self.predict(own[is_found])
            nodes = found if keys is None else list(keys[start : start + own.size])
            is_label = np.zeros(probabilities.shape, dtype=bool)
            for row in np.flatnonzero(is_found).tolist():
                for name in self.label_of.get(nodes[row], ()):
                    is_label[row, column[name]] = True
            yield SetPredictions(
                nodes, names, probabilities, thresholds, is_label, ignore_labels, version, key_type
            )
