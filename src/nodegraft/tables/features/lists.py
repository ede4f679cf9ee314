"""Encoder of a column of number lists, such as embeddings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.matrix import FloatArray
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import finding
from nodegraft.tables.features.encoder import ColumnEncoder, Encoded


@dataclass(frozen=True)
class ListColumn(ColumnEncoder):
    """Encoder of a column of number lists with equal length, which are used unchanged.

    A missing list becomes a row of zeros. Numbers of type float16 are not converted to float32.
    """

    column: str
    """Name of the column with number lists."""

    length: int
    """Length of every list in the column."""

    @classmethod
    def fit(cls, table: SourceTable, column: str) -> "ListColumn":
        """Fit an encoder on a list column of a table."""
        batches = table.batches(column)
        lengths = sorted({n for batch in batches for n in _lengths(batch.column(column))})
        if len(lengths) != 1:
            raise DataError(
                f"Every list in column {column!r} of {table.place} must have the same length; "
                f"there are lists of {', '.join(map(str, lengths[:5])) or 'no length'}."
            )
        if lengths[0] == 0:
            raise DataError(f"The lists in column {column!r} of {table.place} are all empty.")
        return cls(column, lengths[0])

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return the lists of a table as rows of a feature matrix."""
        column = table.column(self.column).combine_chunks()
        if pa.types.is_null(column.type):
            column = column.cast(pa.list_(pa.float32()))
        if set(_lengths(column)) - {self.length}:
            raise DataError(
                f"Every list in column {self.column!r} of {table.place} must have {self.length} "
                "numbers, as when the features were fitted."
            )
        is_given = np.array(pc.is_valid(column))
        numbers = _numbers(column.drop_null().flatten(), self.column, table)
        rows = np.zeros((len(column), self.length), dtype=numbers.dtype)
        rows[is_given] = numbers.reshape(-1, self.length)
        odd = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        missing = np.flatnonzero(~is_given)
        what = "nodes with NaN or infinite numbers in a list"
        findings = (
            *finding(what, odd.size, keys[odd[:3]], "such values become 0"),
            *finding(
                f"nodes without a list in {self.column!r}, treated as zeros",
                missing.size,
                keys[missing[:3]],
            ),
        )
        return Encoded(np.nan_to_num(rows, nan=0.0, posinf=0.0, neginf=0.0), findings)

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature: ``column[i]`` for position i in the list."""
        return [f"{self.column}[{place}]" for place in range(self.length)]


def _lengths(column: Any) -> list[int]:
    return pc.unique(pc.list_value_length(pc.drop_null(column))).to_pylist()  # type: ignore[no-any-return]


def _numbers(flat: Any, name: str, table: SourceTable) -> FloatArray:
    if flat.type == pa.float16():
        halves: FloatArray = flat.to_numpy(zero_copy_only=False)
        return halves
    try:
        numbers = flat.cast(pa.float32(), safe=False)
    except pa.ArrowException:
        raise DataError(
            f"The lists in column {name!r} of {table.place} must hold numbers and hold {flat.type}."
        ) from None
    return np.array(numbers.to_numpy(zero_copy_only=False), dtype=np.float32)
