"""Plain N-way K-shot tasks, each independent of the others."""

from collections.abc import Iterator

import numpy as np

from nodegraft.episodes.episode import Episode, split_support_query
from nodegraft.graph.labels import NodeLabels


def nway_episodes(
    labels: NodeLabels, *, ways: int, shots: int, queries: int, generator: np.random.Generator
) -> Iterator[Episode]:
    """Endless tasks of ``ways`` classes with ``shots`` supports and ``queries`` queries each.

    >>> labels = NodeLabels({"a": range(9), "b": range(10, 19), "c": range(20, 29)})
    >>> episodes = nway_episodes(
    ...     labels, ways=2, shots=3, queries=4, generator=np.random.default_rng(0)
    ... )
    >>> episode = next(episodes); len(episode.classes), episode.query.num_nodes
    (2, 8)
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
