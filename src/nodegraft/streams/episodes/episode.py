"""Episodes for practice: tasks with support nodes, and query nodes of their classes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels


@dataclass(frozen=True)
class Episode:
    """Sequence of tasks to learn from support nodes, and query nodes for evaluation."""

    tasks: tuple[NodeLabels, ...]
    """Support nodes of the classes of each task, oldest task first; each class is in one task."""

    query: NodeLabels
    """Query nodes of the classes of all tasks; their class is predicted among all these classes."""

    @property
    def classes(self) -> tuple[str, ...]:
        """Classes of all tasks in task order, which are the columns of score matrices."""
        return tuple(name for task in self.tasks for name in task)

    @property
    def support(self) -> NodeLabels:
        """Support nodes of all tasks, with classes in the order of :attr:`classes`."""
        return NodeLabels({name: rows for task in self.tasks for name, rows in task.items()})

    @property
    def targets(self) -> NDArray[np.int64]:
        """Column (index in :attr:`classes`) of the class of each query node."""
        return self.query.targets(self.classes)


def split_support_query(
    rows: NDArray[np.int64], shots: int, queries: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw disjoint support and query nodes from the nodes of a class.

    >>> support, query = split_support_query(np.arange(3), 5, 5, np.random.default_rng(0))
    >>> support.size, query.size
    (2, 1)

    Args:
        shots: Number of support nodes; fewer if no query node would be left. If the class has a
            single node, it is a support node.
        queries: Maximum number of query nodes.
    """
    shuffled = generator.permutation(rows)
    cut = max(1, min(shots, rows.size - 1))
    return shuffled[:cut], shuffled[cut : cut + queries]


def sample_per_class(
    labelled: NodeLabels, count: int, generator: np.random.Generator
) -> NodeLabels:
    """Draw a random sample of the nodes of each class.

    >>> labelled = NodeLabels({"many": range(9), "one": [10]})
    >>> sample_per_class(labelled, 3, np.random.default_rng(0)).num_nodes
    4

    Args:
        count: Number of nodes per class; all nodes of smaller classes are taken.
    """
    return NodeLabels(
        {name: generator.permutation(rows)[:count] for name, rows in labelled.items()}
    )


def nway_episodes(
    labels: NodeLabels, *, ways: int, shots: int, queries: int, generator: np.random.Generator
) -> Iterator[Episode]:
    """Yield an endless sequence of random episodes with one task each.

    >>> labels = NodeLabels({"a": range(9), "b": range(10, 19), "c": range(20, 29)})
    >>> episodes = nway_episodes(
    ...     labels, ways=2, shots=3, queries=4, generator=np.random.default_rng(0)
    ... )
    >>> episode = next(episodes); len(episode.classes), episode.query.num_nodes
    (2, 8)

    Args:
        ways: Number of classes per episode (N); all classes if there are fewer.
        shots: Number of support nodes per class (K); fewer in small classes.
        queries: Maximum number of query nodes per class.
    """
    while True:
        names = generator.permutation(labels.classes)[:ways].tolist()
        parts = {
            name: split_support_query(labels[name], shots, queries, generator) for name in names
        }
        yield Episode(
            tasks=(NodeLabels({name: support for name, (support, _) in parts.items()}),),
            query=NodeLabels({name: query for name, (_, query) in parts.items()}),
        )
