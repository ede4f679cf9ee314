"""Which labels a score came from."""

from collections.abc import Sequence

import numpy as np

from nodegraft.nn.linear.centred_cosine import centred_cosines, cosine_contributions
from nodegraft.training.evidence import FLOOR, Evidence
from nodegraft.training.taught import Floats, Taught


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
        centre: For each layer one row.
        weights: Of the signals.
        row: The node.
        column: The class.
    """
    labels, similar = taught.labels[column], weights[evidence.num_fixed :]
    gained = 0.0 if taught.gained is None else float(taught.gained[column])
    count = float(taught.counts[column])
    by_label, unlabelled = np.zeros(labels.size), 0.0
    together = np.unique(np.append(labels, row))
    places, place = np.searchsorted(together, labels), np.searchsorted(together, [row])
    for layer, rows in enumerate(evidence.features.formed(together)):
        node, examples, middle = rows[place], rows[places], centre[layer]
        mean = taught.means[layer][column]
        mean = mean if taught.refined is None else taught.refined[layer][column]
        own = cosine_contributions(node, examples, mean, middle) * (count / labels.size)
        own /= count + gained
        by_label += similar[layer] * own
        whole = centred_cosines(node, mean[None], middle)[0, 0]
        unlabelled += float(similar[layer] * (whole - own.sum()))
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
    labels, node = taught.labels[column], np.array([row])
    if not evidence.restarts:
        return np.zeros(labels.size)
    # Walks are symmetric: what comes from a label to the node comes from the node to the label.
    mass = evidence.view.diffused([node], labels, evidence.restarts)[:, :, 0]
    reached = evidence.view.diffused([labels], node, evidence.restarts)[:, 0, 0]
    gain = weights[: len(evidence.restarts)] * np.log(reached / FLOOR + 1.0)
    given: Floats = gain @ (mass / np.maximum(mass.sum(axis=1, keepdims=True), 1e-12))
    return given
