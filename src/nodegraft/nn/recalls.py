"""How much of each class is found: arrays in, arrays out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]


def recalls(targets: Ints, predicted: Ints, classes: int) -> Floats:
    """The share of each class's nodes that was given its class.

    >>> recalls(np.array([0, 0, 1]), np.array([0, 1, 1]), 2).tolist()
    [0.5, 1.0]
    """
    right = np.bincount(targets[targets == predicted], minlength=classes)
    counts = np.bincount(targets, minlength=classes)
    shares: Floats = np.divide(right, counts, out=np.full(classes, np.nan), where=counts > 0)
    return shares
