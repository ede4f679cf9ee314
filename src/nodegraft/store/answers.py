"""What a store says about nodes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import Fraction, PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import Tabular
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.keys import Key
from nodegraft.model.capability import Capability
from nodegraft.store.state import State


@dataclass(frozen=True)
class Answers(Tabular):
    """One row for each node asked about, in the order they were given."""

    nodes: list[Key]
    """Their keys."""

    classes: list[list[str]]
    """The likeliest classes of each, best first."""

    probabilities: NDArray[np.float64]
    """How likely each of them is, among the known classes: nodes x classes."""

    known: NDArray[np.float64]
    """How likely it is that the node is of a known class at all."""

    min_confidence: float | None
    """Answers that are less sure are kept back; None for none."""

    version: int
    """The version that answered."""

    @property
    def confidence(self) -> NDArray[np.float64]:
        """How sure each answer is: of the class, and of the node being of a known one."""
        sure: NDArray[np.float64] = self.probabilities[:, 0] * self.known
        return sure

    @property
    def answers(self) -> list[str | None]:
        """The class of each node; None where the answer is kept back."""
        sure = self.confidence
        least = -1.0 if self.min_confidence is None else self.min_confidence
        return [one[0] if sure[row] >= least else None for row, one in enumerate(self.classes)]

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> pa.Table:
        """A table: node, class (empty where it is kept back), confidence, and the runners-up."""
        columns: dict[str, Any] = {
            "node": self.nodes,
            "class": pa.array(self.answers, pa.string()),
            "confidence": self.confidence,
        }
        for place in range(self.probabilities.shape[1]):
            columns[f"class_{place + 1}"] = [one[place] for one in self.classes]
            columns[f"probability_{place + 1}"] = self.probabilities[:, place]
        return pa.table(columns)


def answered(
    state: State,
    rows: IntArray,
    version: int,
    top: int = 1,
    min_confidence: float | None = None,
) -> Answers:
    """What a version says about some nodes.

    Args:
        state: The version.
        rows: The nodes, by row.
        version: Its number.
        top: How many classes of each.
        min_confidence: Between 0 and 1: answers that are less sure are kept back.
    """
    validate_value("top", top, PositiveInt)
    if min_confidence is not None:
        validate_value("min_confidence", min_confidence, Fraction)
        if Capability.CALIBRATED not in state.model.capabilities():
            raise ParameterError(
                f"{state.model.name} gives no calibrated confidence, so it cannot abstain: leave "
                "min_confidence out, or use graft."
            )
    model = state.model
    scores = model.score_rows(state.graph, rows)
    names, shares = np.array(model.classes_, dtype=object), model.probabilities(scores)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :top]
    return Answers(
        state.graph.keys_of(rows),
        names[best].tolist(),
        np.take_along_axis(shares, best, axis=1),
        model.known_class_probability(scores),
        min_confidence,
        version,
    )
