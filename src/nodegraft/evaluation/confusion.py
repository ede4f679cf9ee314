"""Which classes are taken for which: scikit-learn's own, by class names."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.base.tabular import Tabular

# No class has this name: class names are not empty.
_ABSTAINED = ""


@dataclass(frozen=True)
class ConfusionMatrix(Tabular):
    """How many nodes of each class are answered to be of which."""

    classes: tuple[str, ...]
    """All that are true or answered, sorted."""

    counts: NDArray[np.int64]
    """True class x answered class."""

    abstained: NDArray[np.int64]
    """How many nodes of each true class were not answered."""

    @classmethod
    def of(cls, truth: Sequence[str], answers: Sequence[str | None]) -> "ConfusionMatrix":
        """From the true class of each node and what was answered.

        >>> seen = ConfusionMatrix.of(["hats", "hats", "caps"], ["hats", "caps", None])
        >>> seen.classes, seen.counts.tolist(), seen.abstained.tolist()
        (('caps', 'hats'), [[0, 0], [1, 1]], [1, 0])

        Args:
            truth: The class of each node.
            answers: What was answered; None where the answer was kept back.
        """
        # Slow to import, and only this needs it.
        from sklearn.metrics import confusion_matrix

        classes = _classes(truth, answers)
        counts = confusion_matrix(truth, _texts(answers), labels=[*classes, _ABSTAINED])
        return cls(classes, counts[:-1, :-1], counts[:-1, -1])

    def to_arrow(self) -> pa.Table:
        """A row for each true class: its name, a column for each answered class, and abstained."""
        # Not from a dict: a class may be called as another column is.
        columns: list[Any] = [list(self.classes), *self.counts.T, self.abstained]
        names = ["true class", *self.classes, "abstained"]
        return pa.Table.from_arrays([pa.array(column) for column in columns], names=names)


def classification_report(truth: Sequence[str], answers: Sequence[str | None]) -> str:
    """Precision, recall and F1 of each class, as scikit-learn prints them.

    Args:
        truth: The class of each node.
        answers: What was answered; None where the answer was kept back.
    """
    from sklearn.metrics import classification_report

    labels = list(_classes(truth, answers))
    return str(classification_report(truth, _texts(answers), labels=labels, zero_division=0))


def _classes(truth: Sequence[str], answers: Sequence[str | None]) -> tuple[str, ...]:
    return tuple(sorted({*truth, *_texts(answers)} - {_ABSTAINED}))


def _texts(answers: Sequence[str | None]) -> list[str]:
    return [_ABSTAINED if answer is None else answer for answer in answers]
