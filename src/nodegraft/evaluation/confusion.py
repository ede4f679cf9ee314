"""Confusion matrix and classification report by class name, computed with scikit-learn."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.base.tabular import Tabular

_ABSTAINED = ""
"""Placeholder for an abstained prediction (None); no class has this name."""


@dataclass(frozen=True, repr=False)
class ConfusionMatrix(Tabular):
    """Confusion matrix: number of nodes for each pair of true and predicted class."""

    classes: tuple[str, ...]
    """Names of all true or predicted classes, sorted."""

    counts: NDArray[np.int64]
    """Number of nodes by true class (row) and predicted class (column)."""

    abstained: NDArray[np.int64]
    """Number of nodes of each true class for which the model abstained."""

    @classmethod
    def of(cls, truth: Sequence[str], predictions: Sequence[str | None]) -> "ConfusionMatrix":
        """Compute the confusion matrix of predictions.

        >>> seen = ConfusionMatrix.of(["hats", "hats", "caps"], ["hats", "caps", None])
        >>> seen.classes, seen.counts.tolist(), seen.abstained.tolist()
        (('caps', 'hats'), [[0, 0], [1, 1]], [1, 0])

        Args:
            truth: True class of each node.
            predictions: Predicted class of each node; None if the model abstained.
        """
        # Import here, because scikit-learn is slow to import.
        from sklearn.metrics import confusion_matrix

        classes = _classes(truth, predictions)
        counts = confusion_matrix(truth, _texts(predictions), labels=[*classes, _ABSTAINED])
        return cls(classes, counts[:-1, :-1], counts[:-1, -1])

    def mistakes(self) -> list[tuple[str, str, int]]:
        """Return (true class, predicted class, number of nodes) of each mistake, by frequency.

        >>> ConfusionMatrix.of(["hats", "hats"], ["caps", "hats"]).mistakes()
        [('hats', 'caps', 1)]
        """
        wrong = self.counts - np.diag(np.diag(self.counts))
        pairs = zip(*np.nonzero(wrong), strict=True)
        mistakes = [(self.classes[i], self.classes[j], int(wrong[i, j])) for i, j in pairs]
        return sorted(mistakes, key=lambda mistake: -mistake[2])

    def to_json(self) -> list[dict[str, Any]]:
        """Return the result of :meth:`mistakes` as plain JSON."""
        names = ("class", "prediction", "nodes")
        return [dict(zip(names, mistake, strict=True)) for mistake in self.mistakes()]

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table with one row per true class.

        Columns are the true class, the count of each predicted class, and ``abstained``.
        """
        # Build lists instead of a dict, because a class may have the same name as another column.
        columns: list[Any] = [list(self.classes), *self.counts.T, self.abstained]
        names = ["true class", *self.classes, "abstained"]
        return pa.Table.from_arrays([pa.array(column) for column in columns], names=names)


def classification_report(truth: Sequence[str], predictions: Sequence[str | None]) -> str:
    """Return precision, recall and F1 of each class as scikit-learn's text report.

    Args:
        truth: True class of each node.
        predictions: Predicted class of each node; None if the model abstained.
    """
    from sklearn.metrics import classification_report

    labels = list(_classes(truth, predictions))
    return str(classification_report(truth, _texts(predictions), labels=labels, zero_division=0))


def _classes(truth: Sequence[str], predictions: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(sorted({*truth, *_texts(predictions)} - {_ABSTAINED}))


def _texts(predictions: Sequence[str | None]) -> list[str]:
    return [_ABSTAINED if name is None else name for name in predictions]
