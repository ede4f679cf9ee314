"""Explanation of a prediction: the contribution of each signal and of single labels."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.keys import Key
from nodegraft.graph.node_types import type_numbers
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft.classes import Floats
from nodegraft.methods.graft.scoring import Derivation
from nodegraft.methods.graft.signals import FLOOR, SignalKind
from nodegraft.methods.linear.cosines import centred_cosines, cosine_contributions

NAMED_LABELS, NAMED_NODES = 5, 3
"""Maximum number of labels in an explanation, and of nodes that join a label to the node."""


def explain_prediction(
    derivation: Derivation, row: int, parts: Floats, shares: Floats, names: Sequence[str]
) -> dict[str, Any]:
    """Return an explanation of a prediction as JSON.

    It contains the contribution of each signal to the scores of the two best classes, and of single
    labels to the score of the best class.

    Args:
        parts: Contribution of each signal to the score of each class: classes x signals.
    """
    best, *rest = np.argsort(-parts.sum(axis=1), kind="stable").tolist()
    second = rest[0] if rest else best
    column = int(derivation.columns[best])
    similar, unlabelled = _cosine_by_label(derivation, row, column)
    heat = diffusion_by_label(derivation, row, column)
    most = np.argsort(-(similar + heat), kind="stable")[:NAMED_LABELS]
    view, labels = derivation.evidence.view, derivation.classes.labels[column][most]
    joining = joining_nodes(view, row, labels)
    signals = zip(derivation.evidence.signals, parts[best], parts[second], strict=True)
    return {
        "answer": names[best],
        "probability": float(shares[best]),
        "runner_up": names[second],
        "runner_up_probability": float(shares[second]),
        "signals": [
            {"signal": signal.name, "for": float(own), "for_runner_up": float(other)}
            for signal, own, other in signals
        ],
        "labels": [
            {"node": key, "similarity": float(near), "diffusion": float(far), **through}
            for key, near, far, through in zip(
                view.keys_of(labels), similar[most], heat[most], joining, strict=True
            )
        ],
        "unlabelled_nodes": unlabelled,
    }


def joining_nodes(view: GraphView, row: int, labels: IntArray) -> list[dict[str, list[Key]]]:
    """Return for each label the nodes of other types that are neighbours of it and of another node.

    Each is a dict with the keys of these nodes as ``through``; it is empty if nodes have one type.
    """
    if not view.has_several_types:
        return [{} for _ in labels]
    near = view.neighbours([row])[1]
    own = near[type_numbers(view.key_array_of(near), view.node_types) > 0]
    shared = (
        np.intersect1d(own, view.neighbours([label])[1]) if label != row else own[:0]
        for label in labels
    )
    return [{"through": view.keys_of(rows[:NAMED_NODES])} for rows in shared]


def _cosine_by_label(derivation: Derivation, row: int, column: int) -> tuple[Floats, float]:
    r"""Return how much each label of a class adds to a node's cosines.

    The second result is what all unlabelled nodes of the class add together. A cosine with a mean
    is a sum over the rows in the mean: label :math:`j` contributes :math:`w \frac{(z - \mu)^\top
    (z_j - \mu)}{n \lVert z - \mu \rVert \lVert p - \mu \rVert}`.
    """
    classes, features = derivation.classes, derivation.evidence.features
    labels, weights = classes.labels[column], _weights(derivation, "cosine")
    added = 0.0 if classes.added is None else float(classes.added[column])
    count = float(classes.counts[column])
    means = classes.means if classes.refined is None else classes.refined
    by_label, unlabelled = np.zeros(labels.size), 0.0
    together = np.unique(np.append(labels, row))
    places, place = np.searchsorted(together, labels), np.searchsorted(together, [row])
    for layer, rows in enumerate(features.formed(together, features.layers)):
        node, mean, centre = rows[place], means[layer][column], classes.centre[layer]
        own = cosine_contributions(node, rows[places], mean, centre) * (count / labels.size)
        own /= count + added
        by_label += weights[layer] * own
        whole = centred_cosines(node, mean[None], centre)[0, 0]
        unlabelled += float(weights[layer] * (whole - own.sum()))
    return by_label, unlabelled


def diffusion_by_label(derivation: Derivation, row: int, column: int) -> Floats:
    """Return the contribution of each label of a class to a node's diffusion score.

    Contributions are differences from the score of a node without heat.

    Args:
        column: Index of the class in ``derivation.classes``.
    """
    evidence, labels = derivation.evidence, derivation.classes.labels[column]
    if not evidence.times:
        return np.zeros(labels.size)
    node = np.array([row])
    # One diffusion from the node replaces one diffusion from each label: heat from a label to the
    # node is proportional to heat from the node to the label, times the root of the label's degree.
    heat = evidence.view.diffused([node], labels, evidence.times)[:, :, 0]
    heat *= evidence.view.degree_roots(labels)
    together = evidence.heat([labels]).shares(evidence.view.positions(node))[:, 0, 0]
    gain = _weights(derivation, "diffusion") * np.log(together / FLOOR + 1.0)
    by_label: Floats = gain @ (heat / np.maximum(heat.sum(axis=1, keepdims=True), 1e-12))
    return by_label


def _weights(derivation: Derivation, kind: SignalKind) -> Floats:
    """Return the weights of all signals of one kind."""
    of_kind = [signal.kind == kind for signal in derivation.evidence.signals]
    return derivation.scoring.weights[of_kind]
