"""Interface of encoders, which convert table columns to features."""

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
    """Feature matrix: one row for each row of the table."""

    findings: tuple[Finding, ...] = ()
    """Findings for the data report."""


class ColumnEncoder(Protocol):
    """Encoder of one kind of columns; it is fitted once and then applied to later tables."""

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return the features of a table; values that were not in the fitted table are missing.

        Args:
            table: Table with the columns that the encoder was fitted on.
            keys: Node key of each row, for findings.
        """

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature."""

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the fitted state as arrays and JSON."""

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> Self:
        """Restore the encoder from its :meth:`state`."""
