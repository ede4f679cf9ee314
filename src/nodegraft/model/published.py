"""Input of a method in the published protocol, with labels that the strict one never shows."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class PublishedLesson:
    """One session as the authors' code has it. The columns of its scores are the classes of
    ``old``, of ``doubled`` and of ``new``, in this order."""

    view: GraphView
    """Visible part of the graph."""

    old: tuple[NodeLabels, ...]
    """Earlier tasks, the first one with many classes: the nodes that prototypes are made of."""

    doubled: NodeLabels
    """The classes of this session again, with all their nodes; empty if this ingredient is off."""

    new: NodeLabels
    """The supports of this session's classes; empty in session 0."""

    query: NodeLabels
    """The query nodes."""

    dropout: float
    """Dropout rate while scores are computed."""

    step: bool
    """Whether the loss of the queries' labels is back-propagated and a step taken."""

    before_step: bool
    """Whether scores are those before the step."""

    seed: int
    """Seed of the dropout."""

    @property
    def tasks(self) -> tuple[NodeLabels, ...]:
        """All non-empty tasks that prototypes are made of, in the order of the columns."""
        return tuple(task for task in (*self.old, self.doubled, self.new) if len(task))

    @property
    def targets(self) -> Tensor:
        """Column of the class of each query node."""
        place = {name: column for column, name in enumerate(self.columns)}
        numbers = [place[name] for name, rows in self.query.items() for _ in rows]
        return torch.tensor(numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        """The class of every column; those of ``doubled`` have empty names, for they are wrong."""
        first = [name for task in self.old for name in task]
        return (*first, *("" for _ in self.doubled), *self.new)
