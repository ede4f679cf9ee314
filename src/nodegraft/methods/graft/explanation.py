"""Which labels a score came from."""

from collections.abc import Sequence

import numpy as np

from nodegraft.methods.graft.classes import Floats, Taught
from nodegraft.methods.graft.signals import FLOOR, Evidence
from nodegraft.methods.linear.centred_cosine import centred_cosines, cosine_contributions


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
    for layer, rows in enumerate(evidence.features.formed(together, evidence.layers)):
        node, examples, middle = rows[place], rows[places], centre[layer]
        mean = taught.means[layer][column]
        mean = mean if taught.refined is None else taught.refined[layer][column]
        own = cosine_contributions(node, examples, mean, middle) * (count / labels.size)
        own /= count + gained
        by_label += similar[layer] * own
        whole = centred_cosines(node, mean[None], middle)[0, 0]
        unlabelled += float(similar[layer] * (whole - own.sum()))
    return by_label, unlabelled


def warm_labels(
    evidence: Evidence, taught: Taught, weights: Floats, row: int, column: int
) -> Floats:
    """Return what each label of a class gave to a node by diffusion, beyond a cold node's score.

    Args:
        evidence: The signals.
        taught: The classes.
        weights: Of the signals.
        row: The node.
        column: The class.
    """
    labels, node = taught.labels[column], np.array([row])
    if not evidence.times:
        return np.zeros(labels.size)
    # One pass from the node instead of one from each label: what reaches the node from a label is
    # in proportion to what reaches the label from the node, times the root of the label's degree.
    heat = evidence.view.diffused([node], labels, evidence.times)[:, :, 0]
    heat *= evidence.view.degree_roots(labels)
    together = evidence.heat([labels]).shares(evidence.view.positions(node))[:, 0, 0]
    gain = weights[: len(evidence.times)] * np.log(together / FLOOR + 1.0)
    by_label: Floats = gain @ (heat / np.maximum(heat.sum(axis=1, keepdims=True), 1e-12))
    return by_label
