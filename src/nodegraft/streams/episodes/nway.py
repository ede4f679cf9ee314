"""Plain N-way K-shot tasks, each independent of the others."""

from collections.abc import Iterator

import numpy as np

from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes.episode import Episode, split_support_query


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
        labels: Nodes of the classes that tasks are drawn from.
        ways: How many classes a task has (N), or all where there are fewer.
        shots: How many supports each of them has (K); fewer in a class that is too small.
        queries: How many queries each of them has at most.
        generator: Decides the classes and the nodes.
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
