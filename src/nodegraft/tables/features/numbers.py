"""Encoder of number columns, which are standardised to mean 0 and variance 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from math import fsum, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.problems import Problems
from nodegraft.graph.edges.matrix import FloatArray
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding, finding
from nodegraft.tables.features.encoder import ColumnEncoder, Encoded


@dataclass(frozen=True, eq=False)
class NumberColumns(ColumnEncoder):
    r"""Encoder that standardises each number column by :math:`(x - \mu) / \sigma`.

    A missing value becomes 0. Without standardisation, a price in cents would have more influence
    than a weight in kilograms.
    """

    columns: tuple[str, ...]
    """Names of the number columns."""

    means: NDArray[np.float64]
    """Mean of each column without its missing values."""

    deviations: NDArray[np.float64]
    """Standard deviation of each column; 1 for a constant column."""

    @classmethod
    def fit(cls, table: SourceTable, columns: tuple[str, ...]) -> "NumberColumns":
        """Fit an encoder on number columns of a table."""
        moments, problems = [], Problems()
        for column in columns:
            with problems.collect():
                moments.append(_moments(table, column))
        problems.raise_all()
        means, deviations = np.array(moments).T
        return cls(columns, means, np.where(deviations > 0, deviations, 1.0))

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return a row of standardised numbers for each table row."""
        values = np.stack([table.floats(name, is_numbers=True) for name in self.columns], axis=1)
        infinite = np.isinf(values)
        missing = np.flatnonzero(np.isnan(values).any(axis=1))
        rows = (_finite(values) - self.means) / self.deviations
        findings = [
            *_odd_numbers(table, self.columns),
            *_infinite(table, self.columns, infinite, keys),
        ]
        findings += finding(
            "nodes with missing numbers, replaced by the column's mean",
            missing.size,
            table.examples(missing, keys[missing[:3]]),
        )
        return Encoded(np.nan_to_num(rows, nan=0.0).astype(np.float32), tuple(findings))

    @property
    def feature_names(self) -> list[str]:
        """Names of the features, which are the names of the columns."""
        return list(self.columns)


def _odd_numbers(table: SourceTable, columns: tuple[str, ...]) -> list[Finding]:
    """Return findings about cells of CSV columns that are not numbers."""
    findings: list[Finding] = []
    for name in columns:
        odd, column = table.odd_numbers(name), table.column(name)
        examples = table.examples(odd, (repr(column[place].as_py()) for place in odd[:3]))
        what, where = "nodes with a value that is not a number", table.where(name)
        findings += finding(what, odd.size, examples, "treated as missing", where=where)
    return findings


def _infinite(
    table: SourceTable, columns: tuple[str, ...], infinite: NDArray[np.bool_], keys: NDArray[Any]
) -> list[Finding]:
    rows = np.flatnonzero(infinite.any(axis=1))
    named = [name for place, name in enumerate(columns) if infinite[:, place].any()]
    examples = table.examples(rows, keys[rows[:3]])
    what, where = "nodes with infinite numbers", table.where(*named)
    return finding(what, rows.size, examples, "treated as missing", where=where)


def _moments(table: SourceTable, column: str) -> tuple[float, float]:
    def known_values() -> Iterator[FloatArray]:
        for batch in table.batches(column):
            values = _finite(batch.floats(column))
            yield values[~np.isnan(values)]

    # Sum with fsum, which is exact, so that the recipe does not depend on the order of rows.
    count = max(sum(values.size for values in known_values()), 1)
    mean = fsum(chain.from_iterable(values.tolist() for values in known_values())) / count
    squares = (np.square(values - mean).tolist() for values in known_values())
    return mean, sqrt(fsum(chain.from_iterable(squares)) / count)


def _finite(values: FloatArray) -> FloatArray:
    finite: FloatArray = np.where(np.isinf(values), np.nan, values)
    return finite
