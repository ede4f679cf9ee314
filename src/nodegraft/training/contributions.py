"""Which labels a score came from."""

from collections.abc import Sequence

import numpy as np

from nodegraft.graph.algebra.matrix import normalise_rows, weigh_columns
from nodegraft.nn.linear.centred_cosine import centred_cosines, cosine_contributions
from nodegraft.training.evidence import FLOOR, Evidence, Floats, Taught


def similar_labels(
    evidence: Evidence,
    taught: Taught,
    centre: Sequence[Floats],
    weights: Floats,
    row: int,
    column: int,
) -> tuple[Floats, float]:
    r"""What each label of a class gave to a node's cosines, and what unlabelled nodes gave.

    A cosine with a mean is a sum over what the mean is made of: label :math:`j` gives
    :math:`w \frac{(z - \mu)^\top (z_j - \mu)}{n \lVert z - \mu \rVert \lVert p - \mu \rVert}`.

    Args:
        evidence: The signals.
        taught: The classes.
        centre: For each hop one row.
        weights: Of the signals.
        row: The node.
        column: The class.
    """
    labels, hops = taught.labels[column], len(evidence.hops)
    plain, refined = weights[:hops], weights[hops + len(evidence.restarts) :]
    gained = 0.0 if taught.gained is None else float(taught.gained[column])
    count = float(taught.counts[column])
    by_label, unlabelled = np.zeros(labels.size), 0.0
    layers = evidence.view.propagated(np.append(labels, row), evidence.features.hops)
    for hop, layer in enumerate(layers):
        rows = normalise_rows(weigh_columns(layer, evidence.features.columns))
        node, examples, middle = rows[[-1]], rows[:-1], centre[hop]
        mean = taught.means[hop][column]
        other = mean if taught.refined is None else taught.refined[hop][column]
        given = cosine_contributions(node, examples, mean, middle) / labels.size
        own = cosine_contributions(node, examples, other, middle) * (count / labels.size)
        own /= count + gained
        by_label += plain[hop] * given + refined[hop] * own
        whole = centred_cosines(node, other[None], middle)[0, 0]
        unlabelled += float(refined[hop] * (whole - own.sum()))
    return by_label, unlabelled


def walked_labels(
    evidence: Evidence, taught: Taught, weights: Floats, row: int, column: int
) -> Floats:
    """What each label of a class gave to a node's walks, beyond an unreached node's score.

    Args:
        evidence: The signals.
        taught: The classes.
        weights: Of the signals.
        row: The node.
        column: The class.
    """
    labels, node, hops = taught.labels[column], np.array([row]), len(evidence.hops)
    if not evidence.restarts:
        return np.zeros(labels.size)
    # Walks are symmetric: what comes from a label to the node comes from the node to the label.
    mass = evidence.view.diffused([node], labels, evidence.restarts)[:, :, 0]
    reached = evidence.view.diffused([labels], node, evidence.restarts)[:, 0, 0]
    gain = weights[hops : hops + len(evidence.restarts)] * np.log(reached / FLOOR + 1.0)
    given: Floats = gain @ (mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-12))
    return given
