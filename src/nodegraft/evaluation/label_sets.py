"""Metrics of predictions that give a node any number of classes; all are between 0 and 1."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError
from nodegraft.evaluation.metrics import expected_calibration_error
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.methods.multi_label import MultiLabel
from nodegraft.tables.labels import keys_by_class

Floats = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class LabelSetMetrics:
    """Metrics of predicted sets of classes."""

    nodes: int
    """Number of nodes."""

    macro_f1: float
    """Mean over the classes of the nodes of F1 = 2 TP / (2 TP + FP + FN)."""

    micro_f1: float
    """F1 over all pairs of a node and a class."""

    mean_average_precision: float
    """Mean over the classes of the nodes of the average precision (:func:`average_precisions`)."""

    coverage: float
    """Share of the nodes with at least one predicted class."""

    calibration_error: float
    """Expected calibration error of the probabilities over all pairs of a node and a class."""


def evaluate_label_sets(
    model: MultiLabel, graph: Graph, labels: Mapping[str, Sequence[Key]]
) -> LabelSetMetrics:
    """Measure a model on held-out nodes, of which all classes are known.

    Args:
        model: Fitted model; none of the nodes is a label of it.
        graph: The graph.
        labels: Class name -> keys of its held-out nodes, or a table, as in
            :meth:`nodegraft.MultiLabel.fit`.
    """
    by_class = {name: list(keys) for name, keys in keys_by_class(labels).items()}
    unknown = sorted(by_class.keys() - set(model.classes_))
    if unknown:
        raise ClassNameError(f"The model has no class {unknown[0]!r}: leave it out.")
    nodes = list(dict.fromkeys(key for keys in by_class.values() for key in keys))
    if not nodes:
        raise ClassNameError("No node given: a model is measured on nodes with known classes.")
    learned = {key for keys in model.labels_.values() for key in keys}
    if again := [key for key in nodes if key in learned]:
        raise ClassNameError(
            f"{len(again)} of {len(nodes)} nodes are labels of the model, such as {again[0]!r}: "
            "leave them out, or the metrics are too good."
        )
    row = {key: place for place, key in enumerate(nodes)}
    column = {name: place for place, name in enumerate(model.classes_)}
    truth = np.zeros((len(nodes), len(column)), dtype=bool)
    for name, keys in by_class.items():
        truth[[row[key] for key in keys], column[name]] = True
    probabilities = model.predict_proba(graph, nodes)
    predicted = probabilities >= list(model.thresholds(graph).values())
    return label_set_metrics(probabilities, predicted, truth)


def label_set_metrics(probabilities: Floats, predicted: Bools, truth: Bools) -> LabelSetMetrics:
    """Return the metrics of predicted sets of classes.

    >>> truth = np.array([[True, False], [True, True]])
    >>> predicted = np.array([[True, False], [False, True]])
    >>> found = label_set_metrics(np.array([[0.9, 0.2], [0.4, 0.8]]), predicted, truth)
    >>> round(found.macro_f1, 3), found.micro_f1, found.mean_average_precision, found.coverage
    (0.833, 0.8, 1.0, 1.0)

    Args:
        probabilities: Probability of each node and class.
        predicted: Whether each class is predicted for each node.
        truth: Whether each node has each class.
    """
    right = (predicted & truth).sum(axis=0)
    both = predicted.sum(axis=0) + truth.sum(axis=0)
    has_nodes = truth.any(axis=0)
    return LabelSetMetrics(
        nodes=len(truth),
        macro_f1=float(np.mean(2.0 * right[has_nodes] / both[has_nodes])),
        micro_f1=float(2.0 * right.sum() / both.sum()),
        mean_average_precision=float(np.nanmean(average_precisions(probabilities, truth))),
        coverage=float(predicted.any(axis=1).mean()),
        calibration_error=expected_calibration_error(probabilities.ravel(), truth.ravel()),
    )


def average_precisions(scores: Floats, truth: Bools) -> NDArray[np.float64]:
    """Return the average precision of each class; NaN for a class that no node has.

    This is scikit-learn's definition: nodes with equal scores count together. The mean over classes
    is the mean average precision.

    >>> scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]])
    >>> truth = np.array([[True, False], [False, False], [True, False]])
    >>> average_precisions(scores, truth).round(3).tolist()
    [0.833, nan]

    Args:
        scores: Score or probability of each node and class.
        truth: Whether each node has each class.
    """
    # Import here, because scikit-learn is slow to import.
    from sklearn.metrics import average_precision_score

    pairs = zip(truth.T, scores.T, strict=True)
    return np.array([average_precision_score(*pair) if pair[0].any() else np.nan for pair in pairs])
