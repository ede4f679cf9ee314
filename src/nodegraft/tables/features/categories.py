"""One-hot encoder of a category column such as a brand: each distinct value becomes a feature."""

from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import finding
from nodegraft.tables.features.encoder import ColumnEncoder, Encoded

MOST_VALUES = 10_000
"""Maximum number of distinct values of a category; a column with more is a key or text."""


@dataclass(frozen=True)
class CategoryColumn(ColumnEncoder):
    """One-hot encoder of a category column; a missing or unknown value becomes a row of zeros."""

    column: str
    """Name of the category column."""

    values: tuple[str, ...]
    """Distinct values of the column in the table it was fitted on, as text, sorted."""

    @classmethod
    def fit(cls, table: SourceTable, column: str) -> "CategoryColumn":
        """Fit a one-hot encoder on a category column of a table."""
        texts = (value for batch in table.batches(column) for value in batch.texts(column))
        values = sorted({value for value in texts if value is not None})
        if not 0 < len(values) <= MOST_VALUES:
            raise DataError(
                f"Column {column!r} of {table.place} has {len(values):,} different values; a "
                f"category has 1 to {MOST_VALUES:,}. If it is text, give text={column!r}."
            )
        return cls(column, tuple(values))

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return a one-hot row for each table row."""
        values = table.text_column(self.column).combine_chunks()
        known = pa.array(self.values, pa.large_string())
        places = pc.index_in(values, value_set=known).fill_null(-1).to_numpy(zero_copy_only=False)
        is_missing = values.is_null().to_numpy(zero_copy_only=False)
        rows, shape = np.flatnonzero(places >= 0), (len(values), len(self.values))
        matrix = csr_array(
            (np.ones(rows.size, dtype=np.float32), (rows, places[rows])), shape=shape
        )
        missing, new = np.flatnonzero(is_missing), np.flatnonzero((places < 0) & ~is_missing)
        findings = (
            *finding(f"nodes without {self.column!r}", missing.size, keys[missing[:3]]),
            *finding(
                f"nodes with a new value of {self.column!r}, treated as missing",
                new.size,
                [values[row].as_py() for row in new[:3]],
            ),
        )
        return Encoded(matrix, findings)

    def keeping(self, is_kept: NDArray[np.bool_]) -> "CategoryColumn":
        """Return an encoder that encodes only some of the values."""
        return CategoryColumn(self.column, tuple(compress(self.values, is_kept)))

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature: ``column=value`` for each value."""
        return [f"{self.column}={value}" for value in self.values]
