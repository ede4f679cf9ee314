"""Interface of encoders that convert table columns to features."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, Self

from numpy.typing import NDArray

from nodegraft.graph.edges.matrix import Matrix
from nodegraft.tables.columns import SourceTable
from nodegraft.tables.data_report import Finding

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Encoded:
    """Features of a table and findings about its columns."""

    matrix: Matrix
    """Feature matrix with one row for each row of the table."""

    findings: tuple[Finding, ...] = ()
    """Findings about the encoded columns, for the data report."""


class ColumnEncoder(Protocol):
    """Encoder of table columns; it is fitted on one table, then applied to any table."""

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return the features of a table.

        Values that did not occur in the fitted table count as missing.

        Args:
            keys: Node key of each row, shown in findings.
        """

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature, in the order of the matrix columns."""

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the fitted state as arrays and JSON."""

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> Self:
        """Restore the encoder from its :meth:`state`."""
