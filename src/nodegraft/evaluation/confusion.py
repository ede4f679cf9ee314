"""Confusion matrix and classification report of scikit-learn, by class names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.base.tabular import Tabular

_ABSTAINED = ""
"""Stands for a withheld prediction; no class has this name."""


@dataclass(frozen=True, repr=False)
class ConfusionMatrix(Tabular):
    """Number of nodes by true and predicted class."""

    classes: tuple[str, ...]
    """All true or predicted classes, sorted."""

    counts: NDArray[np.int64]
    """Counts: true class x predicted class."""

    abstained: NDArray[np.int64]
    """Number of withheld predictions for each true class."""

    @classmethod
    def of(cls, truth: Sequence[str], predictions: Sequence[str | None]) -> "ConfusionMatrix":
        """Return the matrix for true and predicted classes.

        >>> seen = ConfusionMatrix.of(["hats", "hats", "caps"], ["hats", "caps", None])
        >>> seen.classes, seen.counts.tolist(), seen.abstained.tolist()
        (('caps', 'hats'), [[0, 0], [1, 1]], [1, 0])

        Args:
            truth: True class of each node.
            predictions: Predicted class of each node; None where it is withheld.
        """
        # Imported here because it is slow to import.
        from sklearn.metrics import confusion_matrix

        classes = _classes(truth, predictions)
        counts = confusion_matrix(truth, _texts(predictions), labels=[*classes, _ABSTAINED])
        return cls(classes, counts[:-1, :-1], counts[:-1, -1])

    def mistakes(self) -> list[tuple[str, str, int]]:
        """Return true class, predicted class and number of nodes, the most frequent first.

        >>> ConfusionMatrix.of(["hats", "hats"], ["caps", "hats"]).mistakes()
        [('hats', 'caps', 1)]
        """
        wrong = self.counts - np.diag(np.diag(self.counts))
        pairs = zip(*np.nonzero(wrong), strict=True)
        found = [(self.classes[i], self.classes[j], int(wrong[i, j])) for i, j in pairs]
        return sorted(found, key=lambda one: -one[2])

    def to_json(self) -> list[dict[str, Any]]:
        """Return the mistakes as plain JSON."""
        names = ("class", "prediction", "nodes")
        return [dict(zip(names, mistake, strict=True)) for mistake in self.mistakes()]

    def to_arrow(self) -> pa.Table:
        """Return a row for each true class: name, a column for each predicted class, abstained."""
        # A dict would not do: a class may have the name of another column.
        columns: list[Any] = [list(self.classes), *self.counts.T, self.abstained]
        names = ["true class", *self.classes, "abstained"]
        return pa.Table.from_arrays([pa.array(column) for column in columns], names=names)


def classification_report(truth: Sequence[str], predictions: Sequence[str | None]) -> str:
    """Return precision, recall and F1 of each class, as scikit-learn prints them.

    Args:
        truth: True class of each node.
        predictions: Predicted class of each node; None where it is withheld.
    """
    from sklearn.metrics import classification_report

    labels = list(_classes(truth, predictions))
    return str(classification_report(truth, _texts(predictions), labels=labels, zero_division=0))


def _classes(truth: Sequence[str], predictions: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(sorted({*truth, *_texts(predictions)} - {_ABSTAINED}))


def _texts(predictions: Sequence[str | None]) -> list[str]:
    return [_ABSTAINED if name is None else name for name in predictions]
