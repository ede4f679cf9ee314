"""A column of categories, such as a brand: one column of features for each value."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import finding
from nodegraft.tables.features.encoder import Arrays, Encoded

MOST_VALUES = 10_000
"""A column with more of them is a key or a text, not a category."""


@dataclass(frozen=True)
class CategoryColumn:
    """1 in the column of a node's value; all zeros where it is missing or was never met."""

    column: str
    """The name of the column."""

    values: tuple[str, ...]
    """The values met when it was fitted, sorted, as text."""

    @classmethod
    def fit(cls, table: SourceTable, column: str) -> "CategoryColumn":
        """The values of a column.

        Args:
            table: The table to learn from.
            column: The name of its column of categories.
        """
        batches = table.batches(column)
        met = {value for batch in batches for value in batch.texts(column) if value is not None}
        values = sorted(met)
        if not 0 < len(values) <= MOST_VALUES:
            raise DataError(
                f"Column {column!r} of {table.place} has {len(values):,} different values; a "
                f"category has 1 to {MOST_VALUES:,}. If it is text, give text={column!r}."
            )
        return cls(column, tuple(values))

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """One number a row, where the value is known.

        Args:
            table: A table with the same column.
            keys: The key of each row, for findings.
        """
        place = {value: column for column, value in enumerate(self.values)}
        given = table.texts(self.column)
        found = np.array([-1 if one is None else place.get(one, -1) for one in given], dtype=int)
        rows = np.flatnonzero(found >= 0)
        shape = (len(given), len(self.values))
        matrix = csr_array((np.ones(rows.size, dtype=np.float32), (rows, found[rows])), shape=shape)
        missing, strange = (
            np.flatnonzero([one is None for one in given]),
            np.flatnonzero([one is not None and one not in place for one in given]),
        )
        findings = (
            *finding(f"nodes without {self.column!r}", missing.size, keys[missing[:3]]),
            *finding(
                f"nodes with a new value of {self.column!r}, treated as missing",
                strange.size,
                [given[row] for row in strange[:3]],
            ),
        )
        return Encoded(matrix, findings)

    def keeping(self, kept: NDArray[np.bool_]) -> "CategoryColumn":
        """With some of the values.

        Args:
            kept: Whether each of them stays.
        """
        return CategoryColumn(self.column, tuple(compress(self.values, kept)))

    @property
    def feature_names(self) -> list[str]:
        """The column's name with the value."""
        return [f"{self.column}={value}" for value in self.values]

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """The name and the values."""
        return {}, {"column": self.column, "values": list(self.values)}

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> "CategoryColumn":
        """The encoder that :meth:`state` describes.

        Args:
            arrays: Its arrays.
            document: Its JSON.
        """
        return cls(document["column"], tuple(document["values"]))
