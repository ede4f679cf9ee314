"""What the field's published evaluation hands a model: labels that an honest one never sees."""

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
    """What may be seen of the graph."""

    old: tuple[NodeLabels, ...]
    """The tasks met before, the first one with many classes: nodes that prototypes are made of."""

    doubled: NodeLabels
    """The classes of this session once more, by all their nodes; empty where that is off."""

    new: NodeLabels
    """The supports of this session's classes; empty in session 0."""

    query: NodeLabels
    """The nodes that are asked about."""

    dropout: float
    """The share of hidden numbers that is dropped while scores are taken."""

    step: bool
    """Whether the loss of the queries' labels is back-propagated and a step taken."""

    before_step: bool
    """Whether scores are those before the step."""

    seed: int
    """Draws what is dropped."""

    @property
    def tasks(self) -> tuple[NodeLabels, ...]:
        """All that prototypes are made of, in the order of the columns; none of it empty."""
        return tuple(task for task in (*self.old, self.doubled, self.new) if len(task))

    @property
    def targets(self) -> Tensor:
        """The column of each query's class."""
        place = {name: column for column, name in enumerate(self.columns)}
        numbers = [place[name] for name, rows in self.query.items() for _ in rows]
        return torch.tensor(numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        """The class of every column; those of ``doubled`` have empty names, for they are wrong."""
        first = [name for task in self.old for name in task]
        return (*first, *("" for _ in self.doubled), *self.new)
