"""What a version answers about nodes whose class the asker knows."""

from dataclasses import dataclass

from nodegraft.analysis.predictions import answered
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import StoreError
from nodegraft.graph.keys import several
from nodegraft.tables.labels import Labels, keys_by_class


@dataclass(frozen=True)
class Graded:
    """An item for each node."""

    truth: list[str]
    """Its class."""

    answers: list[str | None]
    """What was answered; None where the answer was kept back."""

    @property
    def accuracy(self) -> float:
        """The share of right answers; one that is kept back is not right."""
        pairs = zip(self.truth, self.answers, strict=True)
        return sum(true == answer for true, answer in pairs) / len(self.truth)


def graded(state: State, labels: Labels | None, min_confidence: float | None = None) -> Graded:
    """Ask a version about nodes.

    Args:
        state: The version.
        labels: The truth; None for the nodes that the version holds out.
        min_confidence: Between 0 and 1: answers that are less sure are kept back.
    """
    given = state.labels.held_out if labels is None else keys_by_class(labels)
    truth = {name: several(keys, f"nodes of class {name!r}") for name, keys in given.items()}
    nodes = [key for keys in truth.values() for key in keys]
    if not nodes:
        raise StoreError(
            "There is no labelled node to measure accuracy on: give labels. A store holds out "
            "labels of its own where a class has ten or more."
        )
    answers = answered(state, state.graph.rows_of(nodes), 0, min_confidence=min_confidence)
    # Never `classes`: held-out nodes have a label of their own, which is the truth.
    return Graded([name for name, keys in truth.items() for _ in keys], answers.predictions)
