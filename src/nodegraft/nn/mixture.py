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

    nodes, classes = scores.shape
    likely: Floats = softmax(scores, axis=1)
    shares = np.full(classes, 1.0 / classes)
    found = likely
    for _ in range(ROUNDS):
        found = likely * shares
        found /= found.sum(axis=1, keepdims=True)
        shares = (found.sum(axis=0) + 1.0) / (nodes + classes)
    return found
