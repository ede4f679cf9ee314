"""Matrix in several parts, so that rows are appended without copying the larger parts."""

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
"""A part with at least 1/MERGED_SHARE of the rows of the part above is merged into it."""


class StackedRows:
    """Immutable matrix whose rows are divided among several parts.

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
        """Number of rows and number of columns."""
        return int(self._starts[-1]), int(self.parts[0].shape[1])

    def with_rows(self, rows: Matrix) -> "StackedRows":
        """Return a matrix with rows appended to this one.

        Args:
            rows: Rows to append, with the same number of columns and the same number type.
        """
        parts = [*self.parts, rows]
        while len(parts) > 1 and MERGED_SHARE * parts[-1].shape[0] >= parts[-2].shape[0]:
            last = parts.pop()
            parts[-1] = below(parts[-1], last)
        return StackedRows(tuple(parts))

    def take(self, rows: IntArray) -> Matrix:
        """Return the rows with the given numbers, converted to float32."""
        owners = np.searchsorted(self._starts, rows, side="right") - 1
        if not owners.size or (owners == owners[0]).all():
            first = int(owners[0]) if owners.size else 0
            return take_rows(self.parts[first], rows - self._starts[first])
        slots = [np.flatnonzero(owners == part) for part in range(len(self.parts))]
        parts = list(zip(self.parts, slots, self._starts, strict=False))
        if is_sparse(self.parts[0]):
            blocks = [take_rows(part, rows[places] - start) for part, places, start in parts]
            return csr_array(vstack(blocks, format="csr")[np.argsort(np.concatenate(slots))])
        # Read a row of the largest part for every position, then overwrite those that belong to
        # other parts. This is cheaper than writing each row to its position.
        most = max(range(len(parts)), key=lambda part: slots[part].size)
        part, _, start = parts[most]
        all_rows = take_rows(part, np.clip(rows - start, 0, part.shape[0] - 1))
        for other, places, start in parts[:most] + parts[most + 1 :]:
            all_rows[places] = take_rows(other, rows[places] - start)
        return all_rows

    def whole(self) -> Matrix:
        """Return all rows as a single matrix."""
        for part in self.parts:
            check_matrix(part)
        if is_sparse(self.parts[0]):
            return csr_array(vstack(self.parts, format="csr"))
        return np.concatenate(self.parts)


Stored = Matrix | StackedRows
"""Feature matrix in the form in which a graph stores it."""


def some_rows(stored: Stored, rows: IntArray) -> Matrix:
    """Return the rows with the given numbers, converted to float32."""
    return stored.take(rows) if isinstance(stored, StackedRows) else take_rows(stored, rows)


def rows_to_read(stored: Stored, rows: IntArray) -> Matrix:
    """Return rows in float32, without a copy if possible; callers must not modify them."""
    if not isinstance(stored, StackedRows):
        return shared_rows(stored, rows)
    return shared_rows(stored.parts[0], rows) if len(stored.parts) == 1 else stored.take(rows)


def in_one_piece(stored: Stored) -> Matrix:
    """Return all rows of a feature matrix as a single matrix without parts."""
    return stored.whole() if isinstance(stored, StackedRows) else stored


def holds_sparse(stored: Stored) -> bool:
    """Return whether a feature matrix is sparse, so that only non-zero numbers are stored."""
    return is_sparse(parts_of(stored)[0])


def num_stored(stored: Stored) -> int:
    """Return the number of stored values: only the non-zero ones if the matrix is sparse."""
    return sum(int(part.nnz if is_sparse(part) else part.size) for part in parts_of(stored))


def parts_of(stored: Stored) -> tuple[Matrix, ...]:
    """Return the parts of a feature matrix; for a matrix without parts, the matrix itself."""
    return stored.parts if isinstance(stored, StackedRows) else (stored,)


def below(above: Matrix, rows: Matrix) -> Matrix:
    """Stack two matrices vertically; the result is sparse if `above` is sparse.

    Args:
        rows: Matrix with the lower rows, with as many columns as `above`; dense if `above` is
            dense.
    """
    check_matrix(above)
    check_matrix(rows)
    if is_sparse(above):
        stacked: csr_array[Any] = csr_array(vstack((above, rows), format="csr"))
        return stacked
    return np.concatenate((above, rows))
