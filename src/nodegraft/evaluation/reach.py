"""Search for labels that are reachable from an object by any reference of Python."""

import gc
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels

# Every object leads to these, and they lead to everything in the process.
_EVERYWHERE = (type, types.ModuleType, types.BuiltinFunctionType)


def labelled_rows_within_reach(*given: Any) -> NDArray[np.int64]:
    """Return the rows of every :class:`~nodegraft.graph.labels.NodeLabels` that objects lead to.

    Attributes, items, closures, bound methods and suspended generators are followed; the contents
    of modules are not.

    Args:
        given: Objects that a method receives.
    """
    seen: dict[int, Any] = {}
    found: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    waiting: list[Any] = list(given)
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, _EVERYWHERE):
            continue
        seen[id(value)] = value
        if isinstance(value, NodeLabels):
            found.append(value.rows())
        waiting.extend(_references(value))
    return np.unique(np.concatenate(found))


def _references(value: Any) -> list[Any]:
    if isinstance(value, types.FunctionType):
        # The globals of a function are those of its module, which are not followed.
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [*cells, value.__defaults__, value.__kwdefaults__]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return []
    items = list(value.values()) if isinstance(value, Mapping) else []
    return [*gc.get_referents(value), *items]
