"""Which labels can be got at from an object, by whatever way Python offers."""

import gc
import types
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels

# What every object leads to, and from there to everything in the process.
_EVERYWHERE = (type, types.ModuleType, types.BuiltinFunctionType)


def labelled_rows_within_reach(*given: Any) -> NDArray[np.int64]:
    """The rows of every :class:`~nodegraft.graph.labels.NodeLabels` that objects lead to.

    Attributes, items, closures, bound methods and suspended generators are followed; what a module
    holds is not.

    Args:
        given: What a method is given.
    """
    seen: dict[int, Any] = {}
    found: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    waiting: list[Any] = list(given)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _EVERYWHERE):
            continue
        seen[id(one)] = one
        if isinstance(one, NodeLabels):
            found.append(one.rows())
        waiting.extend(_leads_to(one))
    return np.unique(np.concatenate(found))


def _leads_to(one: Any) -> list[Any]:
    if isinstance(one, types.FunctionType):
        # Not its globals, which are the module's.
        cells = [cell.cell_contents for cell in one.__closure__ or ()]
        return [*cells, one.__defaults__, one.__kwdefaults__]
    if isinstance(one, np.ndarray) and one.dtype != object:
        return []
    held = list(one.values()) if isinstance(one, Mapping) else []
    return [*gc.get_referents(one), *held]
