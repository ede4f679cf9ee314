"""Range checks on numbers that are mapped from files.

Kernels of SciPy and torch do not check offsets and column numbers: one flipped bit in a file would
make them read memory that is not theirs. So whatever is read from a mapped file is checked first,
slice by slice. Arrays in memory have no origin and are not checked again.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DamagedFileError

ORIGIN = "origin"
"""The attribute of a CSR matrix that names the file it is mapped from."""


def check_offsets(
    starts: NDArray[Any], stops: NDArray[Any], size: int, origin: str, part: str = "indptr"
) -> None:
    """Refuse offsets that are negative, descend, or lead behind the end of an array.

    >>> check_offsets(np.array([0, 2]), np.array([2, 5]), 4, "edges.0")
    Traceback (most recent call last):
    ...
    nodegraft.base.errors.DamagedFileError: edges.0 is damaged: an offset in indptr is out of ...
    """
    if not starts.size:
        return
    if starts.min() < 0 or stops.max() > size or (stops < starts).any():
        raise DamagedFileError(origin, f"an offset in {part} is out of range")


def check_numbers(numbers: NDArray[Any], limit: int, origin: str, part: str = "indices") -> None:
    """Refuse row or column numbers that are negative or too large."""
    if not numbers.size:
        return
    # Seen as unsigned, negative numbers are too large: one pass is enough.
    unsigned = np.ascontiguousarray(numbers).view(f"u{numbers.dtype.itemsize}")
    if unsigned.max() >= limit:
        raise DamagedFileError(origin, f"a number in {part} is out of range")


def mark_mapped(matrix: "csr_array[Any]", origin: str) -> "csr_array[Any]":
    """Note that the arrays of a matrix are mapped, so that rows are checked when they are read.

    Args:
        matrix: The matrix, which is changed.
    """
    setattr(matrix, ORIGIN, origin)
    return matrix


def checked_rows(matrix: "csr_array[Any]", rows: NDArray[Any]) -> "csr_array[Any]":
    """Return rows of a matrix; rows of a mapped one are checked.

    Args:
        rows: Row numbers, in any order.
    """
    origin = getattr(matrix, ORIGIN, "")
    if not origin:
        return csr_array(matrix[rows])
    starts, stops = np.take(matrix.indptr, rows), np.take(matrix.indptr, rows + 1)
    check_offsets(starts, stops, matrix.indices.size, origin)
    found = csr_array(matrix[rows])
    check_numbers(found.indices, matrix.shape[1], origin)
    return found


def check_matrix(matrix: Any) -> None:
    """Check all rows of a sparse matrix that is mapped; anything else is left alone."""
    origin = getattr(matrix, ORIGIN, "")
    if origin:
        check_offsets(matrix.indptr[:-1], matrix.indptr[1:], matrix.indices.size, origin)
        check_numbers(matrix.indices, matrix.shape[1], origin)
