"""Accuracy of a version on nodes whose class is known, and calibration of its predictions."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.labels.changes import ClassSuccession
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.predictions import predict_rows
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.version import AccuracyCount
from nodegraft.base.errors import StoreError
from nodegraft.evaluation.confusion import ConfusionMatrix, classification_report
from nodegraft.graph.keys import Key, several
from nodegraft.tables.labels import Labels, keys_by_class


@dataclass(frozen=True)
class ProbabilityBin:
    """Bin of predictions with similar predicted probability."""

    probability: float
    """Mean predicted probability in the bin."""

    count: AccuracyCount
    """Number of predictions in the bin, and how many of them are correct."""

    def to_json(self) -> dict[str, Any]:
        """Return mean probability, counts, accuracy and its interval as plain JSON."""
        return {"probability": self.probability, **self.count.to_json()}


def probability_bins(
    probability: NDArray[np.float64], is_right: NDArray[np.bool_], bins: int = 10
) -> tuple[ProbabilityBin, ...]:
    """Group predictions by probability into bins of equal width; omit empty bins.

    >>> [(one.probability, one.count.total, one.count.right) for one in probability_bins(
    ...     np.array([0.25, 0.95, 1.0]), np.array([False, True, False]))]
    [(0.25, 1, 0), (0.975, 2, 1)]
    """
    place = np.minimum((probability * bins).astype(np.int64), bins - 1)
    return tuple(
        ProbabilityBin(
            float(probability[place == bin_].mean()),
            AccuracyCount(int((place == bin_).sum()), int(is_right[place == bin_].sum())),
        )
        for bin_ in np.unique(place)
    )


def calibration_error(bins: tuple[ProbabilityBin, ...]) -> float:
    """Return the expected calibration error: mean of ``|accuracy - probability|`` over bins (ECE).

    Each bin is weighted by its number of predictions.

    >>> calibration_error((ProbabilityBin(0.75, AccuracyCount(4, 2)),))
    0.25
    """
    total = sum(group.count.total for group in bins)
    return (
        sum(abs(group.probability * group.count.total - group.count.right) for group in bins)
        / total
    )


Nodes = Mapping[str, tuple[Key, ...]]


@dataclass(frozen=True)
class CorrectCounts:
    """Number of correct predictions for the nodes of each class."""

    totals: dict[str, int]
    """Class name -> number of its nodes that were predicted."""

    right: dict[str, int]
    """Class name -> number of its nodes that were predicted correctly."""

    @property
    def nodes(self) -> int:
        """Total number of predicted nodes."""
        return sum(self.totals.values())

    @property
    def accuracy(self) -> float | None:
        """Share of correct predictions; None without nodes."""
        return sum(self.right.values()) / self.nodes if self.nodes else None

    def recall(self, name: str) -> float:
        """Return the share of correct predictions for one class.

        Args:
            name: Name of a class with at least one predicted node.
        """
        return self.right[name] / self.totals[name]

    def renamed(self, names: Mapping[str, str]) -> "CorrectCounts":
        """Return the counts under new class names; sum the counts of classes with equal new names.

        Args:
            names: Current class name -> new class name.
        """
        totals, right = Counter[str](), Counter[str]()
        for name in self.totals:
            totals[names[name]] += self.totals[name]
            right[names[name]] += self.right[name]
        return CorrectCounts(dict(totals), dict(right))

    def to_json(self) -> dict[str, Any]:
        """Return counts and accuracy as plain JSON."""
        return {"asked": self.totals, "right": self.right, "accuracy": self.accuracy}


def count_correct(
    state: State, nodes: Nodes, accepted: Mapping[str, Collection[str]] | None = None
) -> CorrectCounts:
    """Count the correct predictions of a version for nodes whose class is known.

    Args:
        nodes: True class -> keys of its nodes.
        accepted: Class name -> predictions that count as correct; None for the class name alone.
    """
    keys = [key for members in nodes.values() for key in members]
    if not keys:
        return CorrectCounts({}, {})
    predictions = iter(state.model.predict(state.graph, keys))
    right = {}
    for name, members in nodes.items():
        names = (name,) if accepted is None else accepted[name]
        right[name] = sum(predicted in names for predicted in islice(predictions, len(members)))
    return CorrectCounts({name: len(members) for name, members in nodes.items()}, right)


def held_out_accuracy(
    before: State, after: State, names: ClassSuccession
) -> tuple[CorrectCounts, CorrectCounts]:
    """Count correct predictions of two versions for nodes that are held out in both.

    Both counts use the class names of the later version, so merged classes are counted as a single
    class. If a class was split, a prediction of any of its parts is correct, because the earlier
    version did not know the parts.

    Args:
        names: Mapping from classes of the earlier version to classes of the later version.
    """
    nodes = _held_out_in_both(before.labels, after.labels, names)
    old_names = {
        name: [other for other in before.labels if names.of(other) == names.of(name)]
        for name in nodes
    }
    # If a class was split, count its nodes under its old name.
    later = {n: n if names.is_split(n) else next(iter(names.of(n))) for n in nodes}
    return (
        count_correct(before, nodes, old_names).renamed(later),
        count_correct(after, nodes, {name: names.of(name) for name in nodes}).renamed(later),
    )


def _held_out_in_both(
    before: StoreLabels, after: StoreLabels, names: ClassSuccession
) -> dict[str, tuple[Key, ...]]:
    """Return earlier class -> its held-out nodes that are also held out in the later version."""
    common = {}
    for name, keys in before.held_out.items():
        later = {key for new in names.of(name) if new in after for key in after[new].held_out}
        common[name] = tuple(key for key in keys if key in later)
    return {name: keys for name, keys in common.items() if keys}


def split_half_check(before: State, new: Nodes) -> CorrectCounts:
    """Split-half check: count labels of each new class that a model recognises from the other half.

    The labels of each new class are divided into two halves, and each half is learned as a separate
    class. A node of one half is recognised if the class of the other half scores higher than every
    class of the earlier version. If the new class is a mixture of known classes, these score
    higher. A single temporary version tests all new classes together.

    Args:
        before: Earlier version, without the new classes.
        new: New class -> training nodes. Classes with a single node are omitted. The result is
            empty if the method would have to be fitted again.
    """
    names = {*before.labels, *new}
    halves = {
        (name, half): _unused_name(name, half, names)
        for name, keys in new.items()
        if len(keys) > 1
        for half in (0, 1)
    }
    if not halves or before.needs_fit(before.labels):
        return CorrectCounts({}, {})
    state = before.relabelled(
        before.labels.added({name: new[of][half::2] for (of, half), name in halves.items()})
    )
    columns = list(state.model.classes_)
    known = [columns.index(name) for name in before.labels]
    totals, right = Counter[str](), Counter[str]()
    for name, half in halves:
        rows = state.graph.rows_of(new[name][half::2])
        scores = state.model.score_rows(state.graph, rows)
        other = scores[:, columns.index(halves[name, 1 - half])]
        totals[name] += rows.size
        right[name] += int((other > scores[:, known].max(axis=1)).sum())
    return CorrectCounts(dict(totals), dict(right))


def _unused_name(name: str, half: int, names: set[str]) -> str:
    unused = f"{name} {half}"
    while unused in names:
        unused += "'"
    return unused


@dataclass(frozen=True)
class LabelledPredictions:
    """True and predicted classes of labelled nodes."""

    truth: list[str]
    """True class of each node."""

    predictions: list[str | None]
    """Predicted class of each node; None where the prediction is withheld."""

    probability: NDArray[np.float64]
    """P(class | the node belongs to a known class) of each predicted class."""

    confidence: NDArray[np.float64]
    """Confidence of each prediction."""

    @property
    def is_right(self) -> NDArray[np.bool_]:
        """Whether each prediction is correct; False where the prediction is withheld."""
        pairs = zip(self.truth, self.predictions, strict=True)
        return np.array([true == predicted for true, predicted in pairs], dtype=bool)

    def report(self) -> str:
        """Return precision, recall and F1 of each class as text."""
        return classification_report(self.truth, self.predictions)

    @property
    def accuracy(self) -> float:
        """Share of correct predictions; a withheld prediction is not correct."""
        return float(self.is_right.mean())

    @property
    def by_class(self) -> dict[str, AccuracyCount]:
        """True class -> number of its nodes, and how many of them are predicted correctly."""
        totals = Counter(self.truth)
        right = Counter(np.array(self.truth, dtype=object)[self.is_right].tolist())
        return {name: AccuracyCount(totals[name], right[name]) for name in totals}

    @property
    def confusion(self) -> ConfusionMatrix:
        """Number of nodes by true and predicted class."""
        return ConfusionMatrix.of(self.truth, self.predictions)

    @property
    def calibration(self) -> tuple[ProbabilityBin, ...]:
        """Accuracy of predictions in ten bins of predicted probability; empty bins are omitted.

        Bins use probability instead of confidence. In an open world, confidence includes the
        probability that a node belongs to a known class, which is certain for labelled nodes.
        """
        return probability_bins(self.probability, self.is_right)


def predict_labelled(
    state: State, labels: Labels | None, min_confidence: float | None = None
) -> LabelledPredictions:
    """Predict nodes whose true class is known.

    Args:
        labels: True classes; None for the held-out nodes of the version.
        min_confidence: Between 0 and 1: withhold predictions with less confidence.
    """
    node_keys = state.labels.held_out if labels is None else keys_by_class(labels)
    truth = {name: several(keys, f"nodes of class {name!r}") for name, keys in node_keys.items()}
    nodes = [key for keys in truth.values() for key in keys]
    if not nodes:
        raise StoreError(
            "There is no labelled node to measure accuracy on: give labels. A store holds out "
            "labels of its own where a class has ten or more."
        )
    rows = state.graph.rows_of(nodes)
    predictions = predict_rows(state, rows, 0, min_confidence=min_confidence, use_tree=False)
    true_classes = [name for name in truth for _ in truth[name]]
    # `predictions.classes` has labels, so it would be correct for every held-out node.
    return LabelledPredictions(
        true_classes, predictions.predictions, predictions.probability, predictions.confidence
    )
