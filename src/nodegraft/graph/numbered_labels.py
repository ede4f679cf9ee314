"""Labels from one class number for each row, as PyG, NumPy and scikit-learn have them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ClassNameError, DataError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keyed_labels import KeyedLabels
from nodegraft.graph.labels import NodeLabels


def labels_from_numbers(
    y: Any, graph: Graph, names: Sequence[str] | Mapping[int, str] | None = None
) -> KeyedLabels:
    """Class name -> keys, from PyG's ``y`` or another array of class numbers.

    >>> graph = Graph(["p1", "p2", "p3"], np.eye(3))
    >>> labels = labels_from_numbers([1, -1, 0], graph, names=["hats", "shoes"])
    >>> {name: keys.tolist() for name, keys in labels.items()}
    {'hats': ['p3'], 'shoes': ['p1']}

    Args:
        y: One whole number for each node, in the order of the graph's rows; -1 or NaN where there
            is no label. To leave nodes out by a mask: ``torch.where(data.train_mask, data.y, -1)``.
        graph: The graph.
        names: The name of each class number, as a list or a dict; None takes the number itself.
            Numbers of one name are one class.
    """
    numbers = _whole(np.asarray(y), graph.num_nodes)
    name_of = {one: _name(one, names) for one in np.unique(numbers).tolist() if one != -1}
    labels = NodeLabels.from_names(name_of.get(number) for number in numbers.tolist())
    return KeyedLabels.of(labels, graph)


def _whole(y: NDArray[Any], nodes: int) -> NDArray[np.int64]:
    if y.shape != (nodes,):
        raise DataError(
            f"One class number for each of the {nodes:,} nodes is needed; y has shape {y.shape}."
        )
    if y.dtype.kind not in "iuf":
        raise DataError(
            f"y must hold class numbers and is of type {y.dtype}: for class names give a dict, "
            "class name -> list of node keys."
        )
    numbers = np.where(np.isnan(y), -1, y) if y.dtype.kind == "f" else y
    with np.errstate(invalid="ignore"):  # an infinite one is told below
        whole = numbers.astype(np.int64)
    odd = np.flatnonzero((whole != numbers) | (whole < -1))
    if odd.size:
        raise DataError(
            f"Class numbers are 0, 1, 2 … and -1 for none; row {odd[0]} has {y[odd[0]]}."
        )
    return whole


def _name(number: int, names: Sequence[str] | Mapping[int, str] | None) -> str:
    if names is None:
        return str(number)
    try:
        return names[number]
    except LookupError:
        raise ClassNameError(
            f"y has class {number}, which names does not name: it has {len(names)} names."
        ) from None
