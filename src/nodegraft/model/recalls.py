"""How much of each class is found: arrays in, arrays out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]


def recalls(targets: Ints, predicted: Ints, num_classes: int) -> Floats:
    """The share of each class's nodes that was given its class; NaN for a class without nodes.

    >>> recalls(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [0.5, 1.0]

    Args:
        targets: The number of each node's true class, from 0.
        predicted: The number of the class each node was given.
        num_classes: How many classes there are, those without nodes included.
    """
    right = np.bincount(targets[targets == predicted], minlength=num_classes)
    counts = np.bincount(targets, minlength=num_classes)
    shares: Floats = np.divide(right, counts, out=np.full(num_classes, np.nan), where=counts > 0)
    return shares
