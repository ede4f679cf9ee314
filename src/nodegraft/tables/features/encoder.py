"""Interface of the encoders that turn columns of a table into features."""

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
    """Features of a table, and findings about its columns."""

    matrix: Matrix
    """Features: one row for each row of the table."""

    findings: tuple[Finding, ...] = ()
    """Findings for the report."""


class ColumnEncoder(Protocol):
    """Encoder of columns of one kind; it is fitted once and used for later tables."""

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return the features of a table; values that the fitted table lacks count as missing.

        Args:
            table: A table with the columns that the encoder was fitted on.
        """

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature."""

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return everything learned, as arrays and JSON."""

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> Self:
        """Return the encoder that :meth:`state` describes."""
