"""Base class of encoders that convert table columns to features."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
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


class ColumnEncoder:
    """Base class of encoders, which are fitted on one table and then applied to any table.

    Subclasses are dataclasses whose fields are arrays, tuples of texts, texts and numbers.
    """

    def encode(self, table: SourceTable, keys: NDArray[Any]) -> Encoded:
        """Return the features of a table.

        Values that did not occur in the fitted table count as missing.

        Args:
            keys: Node key of each row, shown in findings.
        """
        raise NotImplementedError

    @property
    def feature_names(self) -> list[str]:
        """Name of each feature, in the order of the matrix columns."""
        raise NotImplementedError

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the fitted state as arrays and JSON."""
        fitted = vars(self)
        arrays = {name: value for name, value in fitted.items() if isinstance(value, np.ndarray)}
        return arrays, {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in fitted.items()
            if name not in arrays
        }

    @classmethod
    def from_state(cls, arrays: Arrays, document: Mapping[str, Any]) -> Self:
        """Restore the encoder from its :meth:`state`."""
        state: dict[str, Any] = {**document, **arrays}
        fitted = {field.name: state[field.name] for field in fields(cls)}  # type: ignore[arg-type]
        return cls(**{name: tuple(v) if isinstance(v, list) else v for name, v in fitted.items()})
