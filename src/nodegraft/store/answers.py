"""What a store says about nodes."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.base.parameters.constraints import Fraction
from nodegraft.base.parameters.validate import validate_value
from nodegraft.base.tabular import Tabular
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.keys import Key
from nodegraft.model.best_classes import BestClasses, best_in_blocks
from nodegraft.model.capability import Capability
from nodegraft.store.state import State


@dataclass(frozen=True)
class Answers(Tabular):
    """One row for each node asked about, in the order they were given."""

    nodes: list[Key]
    """Their keys."""

    columns: NDArray[np.int64]
    """Where the likeliest classes of each stand in ``names``, best first."""

    names: tuple[str, ...]
    """All classes of the version."""

    probabilities: NDArray[np.float64]
    """How likely each of them is, among the known classes: nodes x classes."""

    known: NDArray[np.float64]
    """How likely it is that the node is of a known class at all."""

    min_confidence: float | None
    """Answers that are less sure are kept back; None for none."""

    version: int
    """The version that answered."""

    @property
    def classes(self) -> list[list[str]]:
        """The likeliest classes of each node, best first."""
        classes: list[list[str]] = np.array(self.names, dtype=object)[self.columns].tolist()
        return classes

    @property
    def confidence(self) -> NDArray[np.float64]:
        """How sure each answer is: of the class, and of the node being of a known one."""
        sure: NDArray[np.float64] = self.probabilities[:, 0] * self.known
        return sure

    @property
    def answers(self) -> list[str | None]:
        """The class of each node; None where the answer is kept back."""
        names = np.array([*self.names, None], dtype=object)
        answers: list[str | None] = names[np.where(self.is_given, self.columns[:, 0], -1)].tolist()
        return answers

    @property
    def is_given(self) -> NDArray[np.bool_]:
        """Whether each answer is sure enough."""
        return self.confidence >= (-1.0 if self.min_confidence is None else self.min_confidence)

    def __len__(self) -> int:
        return len(self.nodes)

    def to_arrow(self) -> pa.Table:
        """A table: node, class (empty where it is kept back), confidence, and the runners-up."""
        names, best = pa.array(self.names, pa.string()), self.columns
        columns: dict[str, Any] = {
            "node": self.nodes,
            "class": names.take(pa.array(best[:, 0], mask=~self.is_given)),
            "confidence": self.confidence,
        }
        for place in range(best.shape[1]):
            columns[f"class_{place + 1}"] = names.take(pa.array(best[:, place]))
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
    blocks = list(answered_in_blocks(state, rows, version, top, min_confidence))
    return Answers(
        [node for one in blocks for node in one.nodes],
        np.concatenate([one.columns for one in blocks]),
        blocks[0].names,
        np.concatenate([one.probabilities for one in blocks]),
        np.concatenate([one.known for one in blocks]),
        min_confidence,
        version,
    )


def answered_in_blocks(
    state: State,
    rows: IntArray,
    version: int,
    top: int = 1,
    min_confidence: float | None = None,
) -> Iterator[Answers]:
    """The same, a block of nodes at a time; of no nodes one that is empty.

    Args:
        state: The version.
        rows: The nodes, by row.
        version: Its number.
        top: How many classes of each.
        min_confidence: Between 0 and 1: answers that are less sure are kept back.
    """
    if min_confidence is not None:
        validate_value("min_confidence", min_confidence, Fraction)
        if Capability.CALIBRATED not in state.model.capabilities():
            raise ParameterError(
                f"{state.model.name} gives no calibrated confidence, so it cannot abstain: leave "
                "min_confidence out, or use graft."
            )

    def answers(best: BestClasses) -> Answers:
        nodes = state.graph.keys_of(best.rows)
        told = best.columns, best.names, best.probabilities, best.known
        return Answers(nodes, *told, min_confidence, version)

    return map(answers, best_in_blocks(state.model, state.graph, rows, top))
