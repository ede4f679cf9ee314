"""Prediction sets: sets of classes that contain a node's true class with a chosen probability.

The algorithm is conformal prediction. A class is in the set of a node if its probability reaches a
threshold. Thresholds are computed on calibration nodes: nodes of a known class that the scoring
model did not learn from. Calibration nodes are held-out nodes. If a class has no held-out nodes,
its labels are used: they are split into five folds, and each fold is scored by a model that learned
the other four folds.

If the nodes of a class are distributed like its labels, the set of a node contains its class with
about the chosen probability, averaged over labels. There is no exact guarantee, because the folds
are scored by models with four fifths of the labels and not by the model with all labels
(cross-conformal prediction). The likeliest class is always in the set, so coverage is never below
accuracy. Everything is computed on the current graph.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import OpenFraction
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import Tabular
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.model.best_classes import rows_in_block
from nodegraft.model.hooks import Capability

if TYPE_CHECKING:
    from nodegraft.model.method import Method

Floats = NDArray[np.float64]

FEW_LABELS = 10
"""Maximum number of labels of classes that share the threshold for few labels."""

OWN_THRESHOLD = 50
"""Minimum number of calibration nodes of a class that has its own threshold."""

MOST_NODES = 1000
"""Maximum number of calibration nodes of a class, chosen by the hash of their keys."""

FOLDS = 5
"""Number of cross-validation folds; each fold is scored by a model that learned the other folds."""


@dataclass(frozen=True)
class ThresholdGroup:
    """Classes that share a threshold."""

    classes: tuple[str, ...]
    """Names of the classes."""

    nodes: int
    """Number of calibration nodes."""

    threshold: float
    """Minimum probability of a class to be in a set. Minus infinity if there are too few
    calibration nodes for the coverage; every set then contains all classes of this group."""


@dataclass(frozen=True)
class SetCalibration:
    """Calibration data: the probability of the true class for each calibration node."""

    probabilities: dict[str, Floats]
    """Class name -> probability of this class for each of its calibration nodes."""

    labels: dict[str, int]
    """Class name -> number of its labels."""

    def groups(self, coverage: float) -> list[ThresholdGroup]:
        """Return groups of classes that share a threshold.

        A class with at least :data:`OWN_THRESHOLD` calibration nodes is a group of its own. The
        other classes with at most :data:`FEW_LABELS` labels are a group, and all remaining classes
        are another group. If one of these two groups has too few calibration nodes for the
        coverage, they are merged. Classes without calibration nodes are in every prediction set,
        and so are the classes of a group that still has too few calibration nodes.

        >>> few = SetCalibration({"hats": np.linspace(0.1, 0.9, 9)}, {"hats": 9})
        >>> [group.threshold for group in few.groups(0.8)]
        [0.2]

        Args:
            coverage: Share of nodes whose set must contain their class, between 0 and 1.
        """
        validate_value("coverage", coverage, OpenFraction)
        least = _least_nodes(coverage)
        sizes = {name: values.size for name, values in self.probabilities.items()}
        own = [name for name, size in sizes.items() if size >= max(OWN_THRESHOLD, least)]
        rest = [name for name, size in sizes.items() if size and name not in own]
        few = [name for name in rest if self.labels[name] <= FEW_LABELS]
        pools = [few, [name for name in rest if name not in few]]
        if any(pool and sum(sizes[name] for name in pool) < least for pool in pools):
            pools = [rest]
        none = [name for name, size in sizes.items() if not size]
        names = [[name] for name in own] + [pool for pool in (*pools, none) if pool]
        return [self._group(some, coverage) for some in names]

    def _group(self, names: Sequence[str], coverage: float) -> ThresholdGroup:
        values = np.concatenate([self.probabilities[name] for name in names])
        return ThresholdGroup(tuple(names), values.size, conformal_threshold(values, coverage))

    def thresholds(self, coverage: float) -> Floats:
        """Return the threshold of each class, in the order of the model's classes.

        Args:
            coverage: Share of nodes whose set must contain their class, between 0 and 1.
        """
        by_class = {
            name: group.threshold for group in self.groups(coverage) for name in group.classes
        }
        return np.array([by_class[name] for name in self.probabilities])

    def note(self, coverage: float) -> str:
        """Return a note that says for which classes the coverage holds individually or jointly.

        Args:
            coverage: Share of nodes whose set must contain their class, between 0 and 1.
        """
        groups = [group for group in self.groups(coverage) if np.isfinite(group.threshold)]
        own = sum(len(group.classes) == 1 and group.nodes >= OWN_THRESHOLD for group in groups)
        shared = sum(len(group.classes) for group in groups) - own
        always = len(self.labels) - own - shared
        note = (
            f"A set contains the class of about {100 * coverage:g} % of the nodes of known "
            f"classes. Classes with a threshold of their own: {own:,}; that share one: {shared:,}."
        )
        if always:
            least = _least_nodes(coverage)
            note += (
                f" In every set: {always:,}, because this coverage needs {least:,} "
                "labels for calibration. Use a lower coverage, or add labels."
            )
        return note


@dataclass(frozen=True, repr=False)
class PredictionSets(Tabular):
    """Prediction sets, one for each node."""

    nodes: list[Key]
    """Keys of the nodes."""

    sets: list[tuple[str, ...]]
    """Classes in the set of each node, likeliest first; at least one."""

    coverage: float
    """Share of nodes whose set must contain their class."""

    calibration: SetCalibration
    """Calibration data from which the thresholds were computed."""

    @property
    def note(self) -> str:
        """Note that says for which classes the coverage holds individually or jointly."""
        return self.calibration.note(self.coverage)

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> Any:
        """Return a table with the columns node and set."""
        # Import pyarrow here, because its import is slow and most callers only read the attributes.
        import pyarrow as pa

        sets = pa.array([list(names) for names in self.sets], pa.list_(pa.string()))
        return pa.table({"node": self.nodes, "set": sets})


def conformal_threshold(probabilities: Floats, coverage: float) -> float:
    """Return the largest threshold for which the coverage holds.

    >>> conformal_threshold(np.array([0.9, 0.5, 0.7]), 0.5)
    0.7

    Args:
        probabilities: Probability of the true class for each calibration node.
        coverage: Share of new nodes whose probability must reach the threshold.

    Returns:
        The threshold; minus infinity if there are too few calibration nodes.
    """
    rank = _rank(probabilities.size, coverage)
    if rank > probabilities.size:
        return -np.inf
    return float(np.sort(probabilities)[-rank])


def _rank(nodes: int, coverage: float) -> int:
    # Conformal rank: use n + 1, because the new node may have any rank among the n nodes.
    return max(1, int(np.ceil((nodes + 1) * coverage - 1e-9)))


def _least_nodes(coverage: float) -> int:
    return int(np.ceil(coverage / (1.0 - coverage) - 1e-9))


def calibrate(
    model: "Method", view: GraphView, held_out: NodeLabels, listener: Listener = SILENT
) -> SetCalibration:
    """Compute calibration data on held-out nodes; for classes without held-out nodes, on labels.

    Args:
        model: The model; it is not changed.
        view: Visible part of the graph.
        held_out: Class name -> held-out nodes, which are not labels of the model. A class without
            held-out nodes is calibrated on folds of its labels, if the method supports
            ``set_labels``.
        listener: Listener that receives progress events.
    """
    unknown = [name for name in held_out if name not in model.classes_]
    if unknown:
        raise ParameterError(
            f"held_out names classes that the model does not know: {', '.join(unknown[:5])}."
        )
    labelled = np.intersect1d(held_out.rows(), model.labels_.on(view).rows()) if held_out else ()
    if len(labelled):
        raise ParameterError(
            f"{len(labelled):,} nodes of held_out are labels of the model, such as "
            f"{view.keys_of(labelled[:1])[0]!r}: give nodes that it did not learn from."
        )
    values: dict[str, list[Floats]] = {name: [] for name in model.classes_}
    for name, own in _own_probabilities(model, view, held_out):
        values[name].append(own)
    names = [name for name in model.classes_ if not values[name] and model.labels_[name].size > 1]
    if Capability.SET_LABELS in model.capabilities():
        folds = models_without_a_fold(model, view, names, "calibrate prediction sets", listener)
        for other, left_out in folds:
            some = {name: keys[: MOST_NODES // FOLDS] for name, keys in left_out.items()}
            for name, own in _own_probabilities(other, view, KeyedLabels(some).on(view)):
                values[name].append(own)
    elif not any(values.values()):
        raise ParameterError(
            f"{model.name} has to be fitted again to leave labels out, so prediction sets need "
            "nodes of known class that it did not learn from: held_out in Python; a store holds "
            "out a fifth of the labels of classes with ten or more."
        )
    return SetCalibration(
        {name: np.concatenate(parts or [np.zeros(0)]) for name, parts in values.items()},
        {name: int(keys.size) for name, keys in model.labels_.items()},
    )


def _own_probabilities(
    model: "Method", view: GraphView, labels: NodeLabels
) -> list[tuple[str, Floats]]:
    """Return the probability of its own class for each labelled node, by class."""
    some = NodeLabels({name: rows[:MOST_NODES] for name, rows in labels.items() if rows.size})
    if not some:
        return []
    rows, targets, step = some.rows(), some.targets(model.classes_), rows_in_block(model)
    own = []
    for start in range(0, rows.size, step):
        scores = model.score_rows(view, rows[start : start + step])
        probabilities = model.probabilities(view, scores)
        own.append(probabilities[np.arange(len(scores)), targets[start : start + step]])
    ends = np.cumsum(list(some.counts().values()))[:-1]
    return list(zip(some, np.split(np.concatenate(own), ends), strict=True))


def models_without_a_fold(
    model: "Method",
    view: GraphView,
    names: Collection[str],
    what: str,
    listener: Listener = SILENT,
) -> Iterator[tuple["Method", KeyedLabels]]:
    """Yield models that learned without one fold of the labels, and the labels of this fold.

    Only labels change: weights and other fitted parameters are not trained again.

    Args:
        model: A model that supports ``set_labels``; it is not changed.
        view: Visible part of the graph.
        names: Classes whose labels are split into folds, each with at least two labels. Labels of
            other classes are always learned.
        what: Name of the step in progress events.
        listener: Listener that receives progress events.
    """
    for fold in range(FOLDS if names else 0):
        listener.step(what, fold, FOLDS)
        part = {name: model.labels_[name] for name in names if model.labels_[name].size > fold}
        left_out = {name: keys[fold::FOLDS] for name, keys in part.items()}
        remaining = {name: np.delete(keys, slice(fold, None, FOLDS)) for name, keys in part.items()}
        other = model._with_labels(view, KeyedLabels({**model.labels_, **remaining}))
        yield other, KeyedLabels(left_out)
    listener.step(what, FOLDS, FOLDS)
