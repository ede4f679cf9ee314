"""Practice without training: some known classes keep few of their labels, the others all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes.episode import Episode, sample_per_class

MAX_CLASSES = 100
"""So many known classes take part at most."""

MAX_QUERIES = 8000
"""So many of their nodes are queried at most: more would sharpen a handful of numbers no further,
and hold more scores in memory."""

MIN_CLASSES = 4
"""Fewer cannot be halved twice."""


@dataclass(frozen=True)
class MixedEpisode(Episode):
    """An episode with queries of unknown classes, too."""

    unknown: NDArray[np.int64]
    """Row numbers of nodes whose class is in none of the tasks."""


def mixed_episodes(
    train: NodeLabels, held_out: NodeLabels, shots: Sequence[int], seeds: Seeds
) -> Iterator[MixedEpisode]:
    """Increments of all sizes, made of known classes; none where there are too few to make any.

    The first task has classes with all their labels, and held-out nodes as queries; the second has
    classes with ``shots`` labels, and all their other nodes as queries, as a new class has. Classes
    left out of an episode provide its nodes of unknown classes. All queries are from one sample of
    the nodes, so large classes are queried more often.

    Args:
        train: The labels of the known classes.
        held_out: Other nodes of the same classes; a class without any takes no part.
        shots: How many labels the classes of the second task have: one or several numbers, each
            with episodes of its own.
        seeds: Decide which classes are in which task, and which of their nodes are supports.
    """
    generator = seeds.generator("mixed episodes")
    # Names are sorted, so that episodes do not depend on the order of the classes in `train`.
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
    """Yield the classes of an episode, which of them are new, and how many labels those have.

    All classes and each half of them, to see what their number does; in each, none is new, or one
    half after the other.
    """
    half = len(classes) // 2
    for present in (classes, classes[:half], classes[half:]):
        yield present, [], 0
        for count in shots:
            order = generator.permutation(present).tolist()
            yield present, order[: len(order) // 2], count
            yield present, order[len(order) // 2 :], count


def queried_nodes(episodes: Sequence[MixedEpisode]) -> NDArray[np.int64]:
    """Return the nodes that are a query of any episode, those of unknown classes among them.

    Args:
        episodes: At least one episode.
    """
    parts = [(episode.query.rows(), episode.unknown) for episode in episodes]
    return np.unique(np.concatenate([rows for part in parts for rows in part]))
