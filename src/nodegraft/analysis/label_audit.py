"""Label audit: find labels that contradict predictions of models trained without them."""

from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.results.nodes import SuspiciousLabel
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import ParameterError, StoreError
from nodegraft.base.events import SILENT, Listener
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import Records
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import hash_order
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.best_classes import rows_in_block
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.model.prediction_sets import models_without_a_fold

Floats = NDArray[np.float64]

SMALLEST = 1e-300
"""Smallest probability whose logarithm is computed; it replaces 0."""


class LeftOutScores(NamedTuple):
    """Probabilities of labelled nodes, from models that were trained without the node's label."""

    rows: IntArray
    """Row numbers of the labelled nodes."""

    targets: NDArray[np.int64]
    """Column of ``probabilities`` that belongs to the label of each node."""

    probabilities: Floats
    """P(class | the node belongs to a known class): nodes x classes."""


def audit_labels(
    state: State, count: int = 20, listener: Listener = SILENT
) -> Records[SuspiciousLabel]:
    """Return the labels that are most probably wrong, the most suspicious first.

    Each label is scored by a model that was trained without it (:func:`left_out_scores`); the
    method is not fitted from scratch. Labels are ranked by the odds of the most probable other
    class against the label. A label is returned only if another class is more probable. The label
    of a class with a single label is not checked, because the class cannot be learned without it.

    Args:
        state: Version whose labels are checked.
        count: Maximum number of labels to return.
        listener: Receives progress.
    """
    validate_value("count", count, PositiveInt)
    scores = left_out_scores(state, listener)
    if not scores.rows.size:
        raise StoreError(
            "No label can be checked: every class has a single label. Give each class another one."
        )
    names, graph = state.model.classes_, state.graph
    own, best, other = _compared(scores)
    odds = np.log(np.maximum(other, SMALLEST)) - np.log(np.maximum(own, SMALLEST))
    # Order equal scores by key hash, so that the result does not depend on the order of table rows.
    places = hash_order(graph.key_array_of(scores.rows))
    ordered_places = places[np.argsort(-odds[places], kind="stable")]
    suspicious = Records[SuspiciousLabel]()
    for place in ordered_places[odds[ordered_places] > 0][:count]:
        row, label = int(scores.rows[place]), names[scores.targets[place]]
        suggested = names[best[place]]
        chances = float(own[place]), float(other[place])
        reason = _reason(label, suggested, *chances, _neighbour_labels(graph, state, row))
        (key,) = graph.keys_of([row])
        suspicious.append(SuspiciousLabel(key, label, suggested, *chances, reason))
    return suspicious


def left_out_scores(state: State, listener: Listener = SILENT) -> LeftOutScores:
    """Return class probabilities of labelled nodes, from models trained without the node's label.

    Held-out labels are scored by the version's own model. Training labels are scored by five-fold
    cross-validation: each fold contains a fifth of the labels of every class, or a single label if
    the class has five labels or fewer.

    Args:
        state: Version whose labels are scored.
        listener: Receives progress.
    """
    model, graph = state.model, state.graph
    if Capability.SET_LABELS not in model.capabilities():
        raise ParameterError(
            f"{model.name} has to be fitted again to leave labels out, so it cannot audit them: "
            "use graft, or another method that is solved from its labels."
        )
    several = [name for name in model.classes_ if model.labels_[name].size > 1]
    parts = [_scored(model, graph, NodeLabels.by_key(graph, state.labels.held_out))]
    for other, left_out in models_without_a_fold(model, graph, several, "audit labels", listener):
        parts.append(_scored(other, graph, left_out.on(graph)))
    return LeftOutScores(*map(np.concatenate, zip(*parts, strict=True)))


def _scored(model: Method, graph: Graph, labels: NodeLabels) -> LeftOutScores:
    names = model.classes_
    if not labels:
        nobody = np.zeros(0, dtype=np.int64)
        return LeftOutScores(nobody, nobody, np.zeros((0, len(names))))
    rows, step = labels.rows(), rows_in_block(model)
    blocks = [rows[start : start + step] for start in range(0, rows.size, step)]
    probabilities = [model.probabilities(graph, model.score_rows(graph, block)) for block in blocks]
    return LeftOutScores(rows, labels.targets(names), np.concatenate(probabilities))


def _compared(scores: LeftOutScores) -> tuple[Floats, IntArray, Floats]:
    """Return the probability of each label, the most probable other class, and its probability."""
    nodes = np.arange(scores.rows.size)
    own = scores.probabilities[nodes, scores.targets]
    others = scores.probabilities.copy()
    others[nodes, scores.targets] = -1.0
    best = others.argmax(axis=1)
    return own, best, others[nodes, best]


def _neighbour_labels(graph: Graph, state: State, row: int) -> Counter[str]:
    keys = graph.keys_of(graph.neighbours([row])[1])
    return Counter(state.label_of[key] for key in keys if key in state.label_of)


def _reason(label: str, suggested: str, own: float, other: float, neighbours: Counter[str]) -> str:
    """Return a sentence that explains why a label is suspicious.

    >>> _reason("hats", "shoes", 0.02, 0.9, Counter(shoes=3, hats=1))
    'Without this label, shoes has 90.0 % and hats 2.0 %; of 4 labelled neighbours, 3 are shoes \
and 1 hats.'
    """
    shares = f"{suggested} has {_percent(other)} and {label} {_percent(own)}"
    total = neighbours.total()
    if not total:
        return f"Without this label, {shares}; no neighbour has a label."
    return (
        f"Without this label, {shares}; of {total:,} labelled neighbour{'s' if total > 1 else ''}, "
        f"{neighbours[suggested]:,} are {suggested} and {neighbours[label]:,} {label}."
    )


def _percent(share: float) -> str:
    """Return a probability in percent; 0 % and 100 % are never shown.

    >>> _percent(0.99999), _percent(0.5), _percent(0.0)
    ('>99.9 %', '50.0 %', '<0.1 %')
    """
    if share > 0.999:
        return ">99.9 %"
    return "<0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
