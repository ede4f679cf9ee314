"""Functions for rows of dense and sparse matrices, and range checks of mapped arrays.

Kernels of SciPy and torch do not check offsets and column numbers: with one flipped bit in a file
they would read out of bounds. Therefore all offsets and column numbers from a mapped file are
checked before use, but only for those rows that are read. Arrays in memory are not checked again;
they have no :data:`ORIGIN`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from nodegraft.base.errors import DamagedFileError, ParameterError

ORIGIN = "origin"
"""Name of an attribute of CSR matrices, whose value is the name of the mapped file."""


def check_offsets(
    starts: NDArray[Any], stops: NDArray[Any], size: int, origin: str, part: str = "indptr"
) -> None:
    """Raise DamagedFileError if row offsets are negative, descending or too large.

    >>> check_offsets(np.array([0, 2]), np.array([2, 5]), 4, "edges.0")
    Traceback (most recent call last):
    ...
    nodegraft.base.errors.DamagedFileError: edges.0 is damaged: an offset in indptr is out of ...

    Args:
        size: Number of entries of the matrix: no offset may be larger.
    """
    if not starts.size:
        return
    if starts.min() < 0 or stops.max() > size or (stops < starts).any():
        raise DamagedFileError(origin, f"an offset in {part} is out of range")


def check_numbers(numbers: NDArray[Any], limit: int, origin: str, part: str = "indices") -> None:
    """Raise DamagedFileError for row or column numbers that are negative or too large.

    Args:
        limit: Number of rows or columns: valid numbers are smaller.
    """
    if not numbers.size:
        return
    # Compare as unsigned integers, in which negative numbers are too large: one comparison is
    # enough.
    unsigned = np.ascontiguousarray(numbers).view(f"u{numbers.dtype.itemsize}")
    if unsigned.max() >= limit:
        raise DamagedFileError(origin, f"a number in {part} is out of range")


def mark_mapped(matrix: "csr_array[Any]", origin: str) -> "csr_array[Any]":
    """Mark a matrix as mapped from a file, so that each row is checked when it is read.

    Args:
        matrix: Matrix to mark; it is modified in place.
    """
    setattr(matrix, ORIGIN, origin)
    return matrix


def checked_rows(matrix: "csr_array[Any]", rows: NDArray[Any]) -> "csr_array[Any]":
    """Return rows of a sparse matrix; check them first if it is mapped from a file."""
    origin = getattr(matrix, ORIGIN, "")
    if not origin:
        return csr_array(matrix[rows])
    starts, stops = np.take(matrix.indptr, rows), np.take(matrix.indptr, rows + 1)
    check_offsets(starts, stops, matrix.indices.size, origin)
    selected = csr_array(matrix[rows])
    check_numbers(selected.indices, matrix.shape[1], origin)
    return selected


def check_matrix(matrix: Any) -> None:
    """Check all rows of a matrix if it is sparse and mapped from a file."""
    origin = getattr(matrix, ORIGIN, "")
    if origin:
        check_offsets(matrix.indptr[:-1], matrix.indptr[1:], matrix.indices.size, origin)
        check_numbers(matrix.indices, matrix.shape[1], origin)


IntArray: TypeAlias = NDArray[np.integer[Any]]
FloatArray: TypeAlias = NDArray[np.floating[Any]]
Matrix: TypeAlias = FloatArray | csr_array[Any]
Rows: TypeAlias = IntArray | Sequence[int]


def index_type(largest: int) -> type[np.int32] | type[np.int64]:
    """Return the smallest index type that fits: int32 if possible to save memory, else int64."""
    return np.int32 if largest <= np.iinfo(np.int32).max else np.int64


def is_sparse(matrix: Matrix) -> "TypeGuard[csr_array[Any]]":
    """Return whether a matrix is sparse."""
    return bool(issparse(matrix))


def take_rows(matrix: Matrix, rows: IntArray) -> Matrix:
    """Return the rows of a matrix with the given numbers, converted to float32."""
    if is_sparse(matrix):
        return csr_array(checked_rows(matrix, rows), dtype=np.float32)
    return np.asarray(matrix[rows], dtype=np.float32)


def located(ordered: IntArray, values: IntArray) -> tuple[IntArray, NDArray[np.bool_]]:
    """Look up numbers in a sorted array; return positions, and a mask of the numbers found.

    >>> place, is_there = located(np.array([2, 5, 9]), np.array([9, 3]))
    >>> place[is_there].tolist(), is_there.tolist()
    ([2], [True, False])

    Args:
        ordered: Sorted array with at least one number.
    """
    place = np.minimum(np.searchsorted(ordered, values), ordered.size - 1)
    return place, ordered[place] == values


def is_run(rows: IntArray) -> bool:
    """Return whether row numbers are consecutive and ascending, so that a slice can replace them.

    >>> [is_run(np.array(some)) for some in ([2, 3, 4], [2, 4, 3, 5], [])]
    [True, False, False]
    """
    if not rows.size or rows[-1] - rows[0] != rows.size - 1:
        return False
    return bool((np.diff(rows) == 1).all())


def shared_rows(matrix: Matrix, rows: IntArray) -> Matrix:
    """Return rows in float32; dense consecutive rows are a read-only view, not a copy.

    >>> rows = np.eye(3, dtype=np.float32)
    >>> [np.shares_memory(rows, shared_rows(rows, np.array(some))) for some in ([1, 2], [2, 1])]
    [True, False]
    """
    if is_sparse(matrix) or not is_run(rows):
        return take_rows(matrix, rows)
    shared = np.asarray(matrix[rows[0] : rows[-1] + 1], dtype=np.float32)
    shared.flags.writeable = False
    return shared


def gram(matrix: Matrix) -> NDArray[np.float64]:
    """Return the inner products of all pairs of rows of a matrix, in double precision.

    The time of a sparse product grows with the square of the number of entries in a column. Columns
    with many entries are multiplied as a dense matrix, which is several times as fast on word
    counts.

    >>> gram(csr_array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]])).tolist()
    [[5.0, 2.0], [2.0, 10.0]]
    """
    if not is_sparse(matrix):
        rows = np.asarray(matrix, dtype=np.float64)
        return rows @ rows.T
    counts = np.bincount(matrix.indices, minlength=matrix.shape[1])
    often = counts > 0.05 * matrix.shape[0]
    dense = matrix[:, often].toarray().astype(np.float64)
    rest = csr_array(matrix[:, ~often], dtype=np.float64)
    products: NDArray[np.float64] = dense @ dense.T + (rest @ rest.T).toarray()
    return products


def row_norms(matrix: Matrix) -> NDArray[np.float64]:
    """Return the Euclidean norm of every row, in double precision.

    >>> row_norms(np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([5., 0.])
    """
    if is_sparse(matrix):
        squared = np.square(matrix.data, dtype=np.float64)
        squares = csr_array((squared, matrix.indices, matrix.indptr), shape=matrix.shape).sum(
            axis=1
        )
    else:
        squares = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float64)
    lengths: NDArray[np.float64] = np.sqrt(squares)
    return lengths


def normalise_rows(matrix: Matrix) -> Matrix:
    """Divide every row by its Euclidean norm; rows of zeros stay zero.

    >>> normalise_rows(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    norms = row_norms(matrix)
    factors = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    if is_sparse(matrix):
        scaled = (matrix.data * np.repeat(factors, np.diff(matrix.indptr))).astype(np.float32)
        return csr_array((scaled, matrix.indices, matrix.indptr), shape=matrix.shape)
    return (matrix * factors[:, None]).astype(np.float32)


def weigh_columns(matrix: Matrix, weights: NDArray[np.float32]) -> Matrix:
    """Multiply every column of a matrix by the weight of the column.

    >>> weigh_columns(np.array([[3.0, 4.0]]), np.array([2.0, 0.5], dtype=np.float32)).tolist()
    [[6.0, 2.0]]
    """
    if is_sparse(matrix):
        entries = matrix.data * weights[matrix.indices], matrix.indices, matrix.indptr
        return csr_array(entries, shape=matrix.shape)
    return np.asarray(matrix * weights)


CSR = ("data", "indices", "indptr")
"""Names of the arrays of a CSR matrix."""


def csr_arrays(matrix: "csr_array[Any]") -> dict[str, NDArray[Any]]:
    """Return the arrays of a CSR matrix by name."""
    return {part: getattr(matrix, part) for part in CSR}


def from_csr_arrays(
    arrays: Mapping[str, NDArray[Any]], columns: int, prefix: str = ""
) -> "csr_array[Any]":
    """Create a CSR matrix from its arrays; raise ValueError if they do not fit each other.

    Args:
        prefix: Text before the name of each array.
    """
    data, indices, indptr = (arrays[prefix + part] for part in CSR)
    matrix = csr_array((data, indices, indptr), shape=(indptr.size - 1, columns))
    matrix.check_format(full_check=True)
    return matrix


def nbytes(matrix: Matrix) -> int:
    """Return the size of the arrays of a matrix in bytes."""
    if is_sparse(matrix):
        return int(matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes)
    return matrix.nbytes


def row_numbers(rows: Any) -> NDArray[np.int64]:
    """Convert row numbers to int64; raise ParameterError for masks, floats and nested lists.

    NumPy would silently convert a mask to the rows 0 and 1, and 1.7 to the row 1.

    >>> row_numbers([2, 0]).tolist()
    [2, 0]
    """
    array = np.asarray(rows)
    if array.ndim == 1 and (array.size == 0 or array.dtype.kind in "iu"):
        return array.astype(np.int64, copy=False)
    hint = ": give np.flatnonzero(mask)" if array.dtype == bool else ""
    raise ParameterError(
        f"A flat list of row numbers is needed, not {array.dtype} of shape {array.shape}{hint}."
    )


def placed_rows(matrix: Matrix, rows: IntArray, count: int) -> Matrix:
    """Return a matrix of more rows, of which all others are 0.

    >>> placed_rows(np.array([[3.0]]), np.array([1]), 3).ravel().tolist()
    [0.0, 3.0, 0.0]

    Args:
        rows: Their row numbers in the result, ascending.
    """
    shape = count, matrix.shape[1]
    if not is_sparse(matrix):
        placed = np.zeros(shape, dtype=matrix.dtype)
        placed[rows] = matrix
        return placed
    sizes = np.zeros(count, dtype=np.int64)
    sizes[rows] = np.diff(matrix.indptr)
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return csr_array((matrix.data, matrix.indices, ends), shape=shape)
