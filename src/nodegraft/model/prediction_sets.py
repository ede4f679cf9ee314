"""Sets of classes that contain a node's class with a chosen probability: conformal prediction.

A class is in the set of a node if its probability reaches a threshold. Thresholds are computed from
nodes of known class that the scoring model did not learn from: held-out nodes, and for classes
without any, their labels, one fifth after the other, scored by a model that learned from the other
four fifths. If the nodes of a class are distributed like its labels, the set of a node contains its
class with about the chosen probability, averaged over labels: models of four fifths stand for the
model of all (cross-conformal prediction), which has no exact guarantee. The likeliest class is
always in the set, so that coverage is never below accuracy. Everything is computed on the current
graph.
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
"""Classes with at most this many labels share a threshold."""

OWN_THRESHOLD = 50
"""A class with at least this many calibration nodes has its own threshold."""

MOST_NODES = 1000
"""Maximum number of calibration nodes of a class, chosen by the hash of their keys."""

FOLDS = 5
"""Number of parts of the labels of a class; each is scored by a model that learned the others."""


@dataclass(frozen=True)
class ThresholdGroup:
    """Classes that share a threshold."""

    classes: tuple[str, ...]
    """Their names."""

    nodes: int
    """Number of calibration nodes."""

    threshold: float
    """Least probability of a class that is in a set; minus infinity where the calibration nodes are
    too few for the coverage, so that these classes are in every set."""


@dataclass(frozen=True)
class SetCalibration:
    """Probabilities of the true class, for nodes that the scoring model did not learn from."""

    probabilities: dict[str, Floats]
    """Class name -> that probability for each calibration node of the class."""

    labels: dict[str, int]
    """Class name -> its number of labels."""

    def groups(self, coverage: float) -> list[ThresholdGroup]:
        """Return thresholds, and which classes share them.

        A class with :data:`OWN_THRESHOLD` calibration nodes has its own. The others share one among
        those with at most :data:`FEW_LABELS` labels and one among the rest; where one of these has
        too few calibration nodes for the coverage, both share one. Classes without any calibration
        node, and those whose group still has too few, are in every set.

        >>> few = SetCalibration({"hats": np.linspace(0.1, 0.9, 9)}, {"hats": 9})
        >>> [group.threshold for group in few.groups(0.8)]
        [0.2]

        Args:
            coverage: Share of nodes whose set must contain their class, between 0 and 1.
        """
        validate_value("coverage", coverage, OpenFraction)
        least = _least_nodes(coverage)
        sizes = {name: found.size for name, found in self.probabilities.items()}
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
        found = np.concatenate([self.probabilities[name] for name in names])
        return ThresholdGroup(tuple(names), found.size, conformal_threshold(found, coverage))

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
        """Say which classes the coverage holds for one by one, and for which together.

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
    """Sets of classes, one for each node."""

    nodes: list[Key]
    """Keys of the nodes."""

    sets: list[tuple[str, ...]]
    """Classes of each node, the likeliest first; at least one."""

    coverage: float
    """Share of nodes whose set must contain their class."""

    calibration: SetCalibration
    """Calibration that thresholds were computed from."""

    @property
    def note(self) -> str:
        """Say which classes the coverage holds for one by one, and for which together."""
        return self.calibration.note(self.coverage)

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> Any:
        """Return a table with the columns node and set."""
        # Slow to import, and most callers read the attributes.
        import pyarrow as pa

        sets = pa.array([list(names) for names in self.sets], pa.list_(pa.string()))
        return pa.table({"node": self.nodes, "set": sets})


def conformal_threshold(probabilities: Floats, coverage: float) -> float:
    """Return the largest threshold that enough calibration nodes reach.

    >>> conformal_threshold(np.array([0.9, 0.5, 0.7]), 0.5)
    0.7

    Args:
        probabilities: Of the true class, for each calibration node.
        coverage: Share of further nodes that must reach the threshold.

    Returns:
        Minus infinity where there are too few nodes.
    """
    rank = _rank(probabilities.size, coverage)
    if rank > probabilities.size:
        return -np.inf
    return float(np.sort(probabilities)[-rank])


def _rank(nodes: int, coverage: float) -> int:
    # Conformal rank: the new node counts as one more, because it may rank anywhere.
    return max(1, int(np.ceil((nodes + 1) * coverage - 1e-9)))


def _least_nodes(coverage: float) -> int:
    return int(np.ceil(coverage / (1.0 - coverage) - 1e-9))


def calibrate(
    model: "Method", view: GraphView, held_out: NodeLabels, listener: Listener = SILENT
) -> SetCalibration:
    """Return the probabilities of the true class for nodes that the model did not learn from.

    Args:
        model: The model; it is not changed.
        view: Visible part of the graph.
        held_out: Class name -> nodes that are not labels of the model. Labels of classes without
            any are scored by models that learned without them, if the method can take other labels.
        listener: Receives progress.
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
    found: dict[str, list[Floats]] = {name: [] for name in model.classes_}
    for name, own in _own_probabilities(model, view, held_out):
        found[name].append(own)
    names = [name for name in model.classes_ if not found[name] and model.labels_[name].size > 1]
    if Capability.SET_LABELS in model.capabilities():
        folds = models_without_a_fold(model, view, names, "calibrate prediction sets", listener)
        for other, left_out in folds:
            some = {name: keys[: MOST_NODES // FOLDS] for name, keys in left_out.items()}
            for name, own in _own_probabilities(other, view, KeyedLabels(some).on(view)):
                found[name].append(own)
    elif not any(found.values()):
        raise ParameterError(
            f"{model.name} has to be fitted again to leave labels out, so prediction sets need "
            "nodes of known class that it did not learn from: held_out in Python; a store holds "
            "out a fifth of the labels of classes with ten or more."
        )
    return SetCalibration(
        {name: np.concatenate(parts or [np.zeros(0)]) for name, parts in found.items()},
        {name: int(keys.size) for name, keys in model.labels_.items()},
    )


def _own_probabilities(
    model: "Method", view: GraphView, labels: NodeLabels
) -> list[tuple[str, Floats]]:
    """Return each class that has nodes, and its probability for them."""
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
    """Yield models that learned without a fifth of the labels of each class, and these labels.

    What a method fitted besides labels, such as weights, stays: nothing is trained.

    Args:
        model: A model that takes other labels; it is not changed.
        view: Visible part of the graph.
        names: Classes with at least two labels; those of other classes are always learned.
        what: Name of the step in progress events.
        listener: Receives progress events.
    """
    for fold in range(FOLDS if names else 0):
        listener.step(what, fold, FOLDS)
        part = {name: model.labels_[name] for name in names if model.labels_[name].size > fold}
        left_out = {name: keys[fold::FOLDS] for name, keys in part.items()}
        kept = {name: np.delete(keys, slice(fold, None, FOLDS)) for name, keys in part.items()}
        other = model._with_labels(view, KeyedLabels({**model.labels_, **kept}))
        yield other, KeyedLabels(left_out)
    listener.step(what, FOLDS, FOLDS)
