"""Row numbers: how nodes are known inside, where keys have been looked up."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.matrix import IntArray

Rows: TypeAlias = IntArray | Sequence[int]


def row_numbers(rows: Any) -> NDArray[np.int64]:
    """Rows as int64; what NumPy would quietly turn into numbers is refused.

    A mask of true and false would become the rows 0 and 1, and 1.7 the row 1.

    >>> row_numbers([2, 0]).tolist()
    [2, 0]

    Args:
        rows: Whole numbers in one dimension.
    """
    array = np.asarray(rows)
    if array.ndim == 1 and (array.size == 0 or array.dtype.kind in "iu"):
        return array.astype(np.int64, copy=False)
    hint = ": give np.flatnonzero(mask)" if array.dtype == bool else ""
    raise ParameterError(
        f"A flat list of row numbers is needed, not {array.dtype} of shape {array.shape}{hint}."
    )
