"""Groups of nodes that may be a class nobody has taught yet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.algebra.matrix import IntArray, normalise_rows
from nodegraft.graph.keys import Key
from nodegraft.model.capability import Capability
from nodegraft.store.preview import SAMPLE
from nodegraft.store.state import State
from nodegraft.store.telling_words import telling_words
from nodegraft.store.vectors import vectors_of

NEEDED = {Capability.EMBED, Capability.CALIBRATED}
"""What a method must be able to do."""

STRANGER = 0.5
"""A node that is less likely of a known class is taken for one of none."""

MOST, FEWEST = 5_000, 15
"""So many strangers are put into groups at most, and a group has so many at least."""

WORDS, EXAMPLES = 5, 3
"""So many words and nodes are named of each group."""


@dataclass(frozen=True)
class NewClass:
    """A group of nodes that are like each other and like no class that is known."""

    size: int
    """How many nodes it has, of those that were looked at."""

    words: tuple[str, ...]
    """What their texts have more often than others do; none where features are no words."""

    examples: tuple[Key, ...]
    """The nodes nearest to its middle."""


def new_classes(state: State, count: int) -> list[NewClass]:
    """Groups of nodes that the model takes to be of no known class, the largest first.

    Groups are where strangers lie dense in the model's own vectors (HDBSCAN: Campello, Moulavi and
    Sander 2013); those that lie scattered are in none. One class may be several groups. A method
    that cannot tell how likely a node is of a known class finds none.

    Args:
        state: The version.
        count: How many groups at most.
    """
    validate_value("count", count, PositiveInt)
    if not state.model.capabilities() >= NEEDED:
        return []
    graph = state.graph
    rows = graph.sampled(SAMPLE, graph.rows_of(list(state.labels.owners())))
    strangers = rows[state.answers(rows).known < STRANGER]
    strangers = graph.view(strangers).sampled(MOST, rows[:0])
    if strangers.size < FEWEST:
        return []
    vectors = vectors_of(state, strangers)
    found = [one for one in _dense(vectors) if _alike(vectors[one]) > _alike(vectors)]
    groups = sorted(found, key=len, reverse=True)[:count]
    return [
        NewClass(
            len(group),
            telling_words(graph, strangers[group], graph.sampled(SAMPLE, strangers[group]), WORDS),
            tuple(graph.keys_of(strangers[group[_nearest(vectors[group])]])),
        )
        for group in groups
    ]


def _dense(vectors: NDArray[np.float64]) -> list[IntArray]:
    # Slow to import, and only this needs it.
    from sklearn.cluster import HDBSCAN

    clusters = HDBSCAN(min_cluster_size=FEWEST, copy=True)
    found = clusters.fit_predict(normalise_rows(vectors))
    return [np.flatnonzero(found == group) for group in range(found.max() + 1)]


def _alike(vectors: NDArray[np.float64]) -> float:
    """How much nodes have in common; those that are like nothing lie dense, too."""
    return float(np.linalg.norm(vectors.mean(axis=0)))


def _nearest(vectors: NDArray[np.float64]) -> IntArray:
    """The places of those nearest to the middle."""
    distances = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    return np.argsort(distances, kind="stable")[:EXAMPLES]
