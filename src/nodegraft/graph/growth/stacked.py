"""Matrix in several parts, so that appending rows does not copy the larger parts."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from nodegraft.graph.edges.matrix import (
    IntArray,
    Matrix,
    check_matrix,
    is_sparse,
    shared_rows,
    take_rows,
)

MERGED_SHARE = 4
"""A part is merged into the part above it if it has at least 1/MERGED_SHARE as many rows. This
keeps the number of parts small and copies each row only a few times."""


class StackedRows:
    """Immutable matrix whose rows are stored in several parts.

    >>> rows = StackedRows((np.eye(8),)).with_rows(np.ones((1, 8)))
    >>> rows.shape, len(rows.parts), rows.take(np.array([8, 0])).sum(axis=1).tolist()
    ((9, 8), 2, [8.0, 1.0])

    Args:
        parts: Matrices from top to bottom, all dense or all sparse.
    """

    def __init__(self, parts: tuple[Matrix, ...]) -> None:
        self.parts = parts
        self._starts = np.cumsum([0, *(part.shape[0] for part in parts)])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return int(self._starts[-1]), int(self.parts[0].shape[1])

    def with_rows(self, rows: Matrix) -> "StackedRows":
        """Return the stack with rows appended.

        Args:
            rows: Rows with the same number of columns and the same number type.
        """
        parts = [*self.parts, rows]
        while len(parts) > 1 and MERGED_SHARE * parts[-1].shape[0] >= parts[-2].shape[0]:
            last = parts.pop()
            parts[-1] = below(parts[-1], last)
        return StackedRows(tuple(parts))

    def take(self, rows: IntArray) -> Matrix:
        """Return some rows, in float32.

        Args:
            rows: Row numbers, in any order.
        """
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        if not owners.size or (owners == owners[0]).all():
            first = int(owners[0]) if owners.size else 0
            return take_rows(self.parts[first], rows - self._starts[first])
        chosen = [np.flatnonzero(owners == part) for part in range(len(self.parts))]
        parts = list(zip(self.parts, chosen, self._starts, strict=False))
        if is_sparse(self.parts[0]):
            found = [take_rows(part, rows[places] - start) for part, places, start in parts]
            return csr_array(vstack(found, format="csr")[np.argsort(np.concatenate(chosen))])
        # Read a row of the largest part for every position, then overwrite positions of other
        # parts: this is cheaper than writing each row to its position.
        most = max(range(len(parts)), key=lambda part: chosen[part].size)
        part, _, start = parts[most]
        taken = take_rows(part, np.clip(rows - start, 0, part.shape[0] - 1))
        for other, places, start in parts[:most] + parts[most + 1 :]:
            taken[places] = take_rows(other, rows[places] - start)
        return taken

    def whole(self) -> Matrix:
        """Return all rows as one matrix."""
        for part in self.parts:
            check_matrix(part)
        if is_sparse(self.parts[0]):
            return csr_array(vstack(self.parts, format="csr"))
        return np.concatenate(self.parts)


Stored = Matrix | StackedRows
"""Feature rows as a graph stores them."""


def some_rows(stored: Stored, rows: IntArray) -> Matrix:
    """Return some rows, in float32.

    Args:
        stored: The matrix.
        rows: Row numbers, in any order.
    """
    return stored.take(rows) if isinstance(stored, StackedRows) else take_rows(stored, rows)


def rows_to_read(stored: Stored, rows: IntArray) -> Matrix:
    """Return some rows that the caller must not change: consecutive rows are not copied.

    Args:
        stored: The matrix.
        rows: Row numbers, in any order.
    """
    if not isinstance(stored, StackedRows):
        return shared_rows(stored, rows)
    return shared_rows(stored.parts[0], rows) if len(stored.parts) == 1 else stored.take(rows)


def in_one_piece(stored: Stored) -> Matrix:
    """Return all rows as one matrix, without parts."""
    return stored.whole() if isinstance(stored, StackedRows) else stored


def holds_sparse(stored: Stored) -> bool:
    """Return whether the matrix is sparse: only non-zero numbers are stored."""
    return is_sparse(parts_of(stored)[0])


def num_stored(stored: Stored) -> int:
    """Return the number of stored numbers: non-zero ones of a sparse matrix, all of a dense one."""
    return sum(int(part.nnz if is_sparse(part) else part.size) for part in parts_of(stored))


def parts_of(stored: Stored) -> tuple[Matrix, ...]:
    """Return the parts of the matrix; a matrix without parts is its only part."""
    return stored.parts if isinstance(stored, StackedRows) else (stored,)


def below(above: Matrix, rows: Matrix) -> Matrix:
    """Stack two matrices vertically.

    Args:
        above: The upper rows, dense or sparse.
        rows: The lower rows: as many columns, and dense if `above` is dense.
    """
    check_matrix(above)
    check_matrix(rows)
    if is_sparse(above):
        joined: csr_array[Any] = csr_array(vstack((above, rows), format="csr"))
        return joined
    return np.concatenate((above, rows))
