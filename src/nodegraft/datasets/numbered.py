"""Classes that the raw files only number get names such as ``class-07``."""

import numpy as np

from nodegraft.graph.labels import Labelled
from nodegraft.graph.matrix import IntArray


def numbered_classes(ids: IntArray) -> Labelled:
    """From one class id per row; the names are padded so that they sort as the ids do.

    >>> numbered_classes(np.array([11, 7, 11])).classes
    ('class-07', 'class-11')
    """
    values, sizes = np.unique(ids, return_counts=True)
    width = max(2, len(str(values.max())))
    names = [f"class-{value:0{width}d}" for value in values.tolist()]
    members = np.split(np.argsort(ids, kind="stable"), np.cumsum(sizes)[:-1])
    return Labelled(dict(zip(names, members, strict=True)))
