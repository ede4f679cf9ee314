"""A practice task: the supports of some tasks in order, and the queries about their classes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels


@dataclass(frozen=True)
class Episode:
    """Classes to learn from their supports, task after task, and queries to test it with."""

    tasks: tuple[NodeLabels, ...]
    """The supports of each task's classes, oldest task first; a class is in one task only."""

    query: NodeLabels
    """Other nodes of the same classes, to be classified among all of them."""

    @property
    def classes(self) -> tuple[str, ...]:
        """The classes of all tasks, task by task: the columns of the scores."""
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
    rows: NDArray[np.int64], shots: int, queries: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Disjoint support and query of one class.

    >>> support, query = split_support_query(np.arange(3), 5, 5, np.random.default_rng(0))
    >>> support.size, query.size
    (2, 1)

    Args:
        shots: How many of them are supports; fewer where that would leave no query. A class of one
            node has no query.
        queries: How many of the others are queries, or as many as are left.
        generator: Decides which ones.
    """
    shuffled = generator.permutation(rows)
    cut = max(1, min(shots, rows.size - 1))
    return shuffled[:cut], shuffled[cut : cut + queries]


def sample_per_class(
    labelled: NodeLabels, count: int, generator: np.random.Generator
) -> NodeLabels:
    """Draw some nodes of every class.

    >>> labelled = NodeLabels({"many": range(9), "one": [10]})
    >>> sample_per_class(labelled, 3, np.random.default_rng(0)).num_nodes
    4

    Args:
        count: How many nodes of each class; a smaller class gives all of its own.
        generator: Decides which ones, and their order.
    """
    return NodeLabels(
        {name: generator.permutation(rows)[:count] for name, rows in labelled.items()}
    )


def nway_episodes(
    labels: NodeLabels, *, ways: int, shots: int, queries: int, generator: np.random.Generator
) -> Iterator[Episode]:
    """Yield an endless sequence of tasks.

    >>> labels = NodeLabels({"a": range(9), "b": range(10, 19), "c": range(20, 29)})
    >>> episodes = nway_episodes(
    ...     labels, ways=2, shots=3, queries=4, generator=np.random.default_rng(0)
    ... )
    >>> episode = next(episodes); len(episode.classes), episode.query.num_nodes
    (2, 8)

    Args:
        ways: How many classes a task has (N), or all where there are fewer.
        shots: How many supports each of them has (K); fewer in a class that is too small.
    """
    while True:
        names = generator.permutation(labels.classes)[:ways].tolist()
        drawn = {
            name: split_support_query(labels[name], shots, queries, generator) for name in names
        }
        yield Episode(
            tasks=(NodeLabels({name: support for name, (support, _) in drawn.items()}),),
            query=NodeLabels({name: query for name, (_, query) in drawn.items()}),
        )
