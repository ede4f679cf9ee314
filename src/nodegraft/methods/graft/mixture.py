"""Which class unlabelled nodes seem to be of."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ROUNDS = 10


def responsibilities(scores: Floats) -> Floats:
    r""":math:`r_{ic} \propto \pi_c \exp s_{ic}`, with class shares :math:`\pi` from the nodes.

    Shares start even and are estimated in turn with the responsibilities (expectation
    maximisation, with one node of each class beforehand).

    >>> found = responsibilities(np.array([[2.0, 0.0], [2.0, 0.0], [0.0, 0.1]]))
    >>> found.round(2).tolist()
    [[0.95, 0.05], [0.95, 0.05], [0.7, 0.3]]

    Args:
        scores: Log-odds of each node and class, up to a constant for each node.
    """
    # Slow to import, and only a change needs it.
    from scipy.special import softmax

    likely: Floats = softmax(scores, axis=1)
    likely *= class_shares(likely, ROUNDS - 1)
    likely /= likely.sum(axis=1, keepdims=True)
    return likely


def class_shares(likely: Floats, rounds: int = ROUNDS) -> Floats:
    """How large each class seems to be, as a share of all nodes.

    >>> class_shares(np.array([[0.9, 0.1], [0.9, 0.1], [0.4, 0.6]])).round(2).tolist()
    [0.71, 0.29]

    Args:
        likely: Probabilities of nodes that are a fair sample, if all classes were alike in size.
        rounds: How often shares are estimated in turn with responsibilities.
    """
    nodes, classes = likely.shape
    shares = np.full(classes, 1.0 / classes)
    for _ in range(rounds):
        # The column sums of the posterior, which itself is not needed.
        sums = shares * ((1.0 / (likely @ shares)) @ likely)
        shares = (sums + 1.0) / (nodes + classes)
    return shares
