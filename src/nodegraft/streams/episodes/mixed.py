"""Mixed episodes: some known classes have few of their labels, the other classes have all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes.episode import Episode, sample_per_class

MAX_CLASSES = 100
"""Maximum number of known classes in the episodes."""

MAX_QUERIES = 8000
"""Maximum number of query nodes; more would need memory but not improve results."""

MIN_CLASSES = 4
"""Minimum number of known classes, because the classes are divided into halves twice."""


@dataclass(frozen=True)
class MixedEpisode(Episode):
    """Episode that also has query nodes of unknown classes."""

    unknown: NDArray[np.int64]
    """Rows of query nodes whose class is in none of the tasks."""


def mixed_episodes(
    train: NodeLabels, held_out: NodeLabels, shots: Sequence[int], seeds: Seeds
) -> Iterator[MixedEpisode]:
    """Yield episodes of different sizes from known classes; none if there are too few classes.

    The classes of the first task have all their labels, and held-out nodes as queries. The classes
    of the second task have ``shots`` labels, like new classes, and all their other nodes as
    queries. Nodes of classes that are not in an episode are its query nodes of unknown classes. All
    queries are from one sample of the nodes, so large classes have more queries.

    Args:
        train: Labels of the known classes.
        held_out: Held-out nodes of the known classes; classes without held-out nodes are not used.
        shots: Numbers of labels per class of the second task; each number has its own episodes.
        seeds: Seeds for the choice of classes for each task and of their support nodes.
    """
    generator = seeds.generator("mixed episodes")
    # Class names are sorted, so that episodes do not depend on the order of classes in `train`.
    classes = sorted(name for name in train if held_out.get(name, train[name][:0]).size)
    if len(classes) < MIN_CLASSES:
        return
    classes = generator.permutation(classes)[:MAX_CLASSES].tolist()
    labelled = train.select(classes) | held_out.select(classes)
    sample = generator.permutation(labelled.rows())[:MAX_QUERIES]
    for present, few, count in _mixes(classes, shots, generator):
        few_shot = sample_per_class(train.select(few), count, generator)
        many_shot = train.select([name for name in present if name not in few])
        supports = np.concatenate((many_shot.rows(), few_shot.rows()))
        free = np.setdiff1d(sample, supports)
        query = {name: np.intersect1d(labelled[name], free) for name in present}
        absent = [name for name in classes if name not in present]
        unknown = np.intersect1d(sample, labelled.select(absent).rows())
        yield MixedEpisode((many_shot, few_shot), NodeLabels(query), unknown)


def _mixes(
    classes: list[str], shots: Sequence[int], generator: np.random.Generator
) -> Iterator[tuple[list[str], list[str], int]]:
    """Yield the classes of each episode, its new classes, and their number of labels.

    Episodes have all classes, or one half of them, so that their number varies. Each of these sets
    gives an episode without new classes, and two episodes in which one half of the set is new.
    """
    half = len(classes) // 2
    for present in (classes, classes[:half], classes[half:]):
        yield present, [], 0
        for count in shots:
            order = generator.permutation(present).tolist()
            yield present, order[: len(order) // 2], count
            yield present, order[len(order) // 2 :], count


def queried_nodes(episodes: Sequence[MixedEpisode]) -> NDArray[np.int64]:
    """Return the query nodes of all episodes, including query nodes of unknown classes.

    Args:
        episodes: At least one episode.
    """
    parts = [(episode.query.rows(), episode.unknown) for episode in episodes]
    return np.unique(np.concatenate([rows for part in parts for rows in part]))
