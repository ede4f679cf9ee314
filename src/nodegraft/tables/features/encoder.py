"""What a kind of feature column is: fitted once, it turns tables into rows."""

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
    """Rows of numbers, and what is odd about what they were made from."""

    matrix: Matrix
    """One row for each row of the table."""

    findings: tuple[Finding, ...] = ()
    """What a person should know about it."""


class ColumnEncoder(Protocol):
    """Columns of one kind."""

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Rows of numbers; values never met when it was fitted change nothing.

        Args:
            table: A table with the columns it was fitted on.
            keys: The key of each row, for findings.
        """

    @property
    def feature_names(self) -> list[str]:
        """What each number of a row is about."""

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Everything learned, as arrays and JSON."""

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> Self:
        """The encoder that :meth:`state` describes.

        Args:
            arrays: Its arrays.
            document: Its JSON.
        """
