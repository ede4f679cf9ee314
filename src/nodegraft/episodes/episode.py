"""A practice task: what is learned, in which order it was met, and what is asked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels


@dataclass(frozen=True)
class Episode:
    """``tasks`` are the supports task by task, oldest first; ``query`` asks about every class."""

    tasks: tuple[NodeLabels, ...]
    query: NodeLabels

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes met, task by task: the columns of the scores."""
        return tuple(name for task in self.tasks for name in task)

    @property
    def support(self) -> NodeLabels:
        """The supports of all tasks together, classes as in :attr:`classes`."""
        return NodeLabels({name: rows for task in self.tasks for name, rows in task.items()})

    @property
    def targets(self) -> NDArray[np.int64]:
        """The column of every query's class."""
        return self.query.targets(self.classes)


def split_support_query(
    rows: NDArray[np.int64], support: int, query: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Disjoint support and query; a small class gives at least one node to each side.

    >>> support, query = split_support_query(np.arange(3), 5, 5, np.random.default_rng(0))
    >>> support.size, query.size
    (2, 1)
    """
    shuffled = generator.permutation(rows)
    cut = max(1, min(support, rows.size - 1))
    return shuffled[:cut], shuffled[cut : cut + query]


def sample_per_class(
    labelled: NodeLabels, count: int, generator: np.random.Generator
) -> NodeLabels:
    """At most ``count`` nodes of every class.

    >>> labelled = NodeLabels({"many": range(9), "one": [10]})
    >>> sample_per_class(labelled, 3, np.random.default_rng(0)).num_nodes
    4
    """
    return NodeLabels(
        {name: generator.permutation(rows)[:count] for name, rows in labelled.items()}
    )
