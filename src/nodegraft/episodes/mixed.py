"""Practice without training: some known classes are taught by few of their nodes, some by all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.episodes.episode import Episode, sample_per_class
from nodegraft.graph.labels import NodeLabels

MOST_CLASSES = 200
MOST_QUERIES = 8000
"""More would sharpen a handful of numbers no further, and hold more scores in memory."""

FEWEST_CLASSES = 4
"""Fewer cannot be halved twice."""


@dataclass(frozen=True)
class MixedEpisode(Episode):
    """An episode that also asks about nodes of classes it does not teach."""

    unknown: NDArray[np.int64]
    """Nodes of classes that are not taught in it at all."""


def mixed_episodes(
    train: NodeLabels, held_out: NodeLabels, shots: Sequence[int], seeds: Seeds
) -> Iterator[MixedEpisode]:
    """Increments of all sizes, made of known classes; none where there are too few to make any.

    A class taught by all its labels is asked about held-out nodes; one taught by ``shots`` has all
    its other nodes to ask about, as a new class has. Classes left out of an episode provide its
    nodes of unknown classes. All of it from one sample of nodes, as they come: large classes are
    asked more often.

    Args:
        train: The labels of the known classes.
        held_out: Other nodes of the same classes.
        shots: By how many nodes classes are taught that are played as new.
        seeds: Decide who is played as what.
    """
    generator = seeds.generator("mixed episodes")
    classes = [name for name in train if held_out.get(name, train[name][:0]).size]
    if len(classes) < FEWEST_CLASSES:
        return
    classes = generator.permutation(classes)[:MOST_CLASSES].tolist()
    labelled = train.select(classes) | held_out.select(classes)
    sample = generator.permutation(labelled.rows())[:MOST_QUERIES]
    for present, few, count in _mixes(classes, shots, generator):
        taught = sample_per_class(train.select(few), count, generator)
        known = train.select([name for name in present if name not in few])
        free = np.setdiff1d(sample, np.concatenate((known.rows(), taught.rows())))
        query = {name: np.intersect1d(labelled[name], free) for name in present}
        absent = [name for name in classes if name not in present]
        unknown = np.intersect1d(sample, labelled.select(absent).rows())
        yield MixedEpisode((known, taught), NodeLabels(query), unknown)


def _mixes(
    classes: list[str], shots: Sequence[int], generator: np.random.Generator
) -> Iterator[tuple[list[str], list[str], int]]:
    """Which classes are there, which of them are new, and by how many nodes those are taught.

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
    """All nodes that any of the episodes asks about, those of unknown classes among them.

    Args:
        episodes: Some episodes.
    """
    parts = [(episode.query.rows(), episode.unknown) for episode in episodes]
    return np.unique(np.concatenate([rows for part in parts for rows in part]))
