"""Groups of nodes that may be a class nobody has taught yet."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.preview import SAMPLE
from nodegraft.analysis.snapshot import State
from nodegraft.analysis.suggestions.top_terms import telling_words
from nodegraft.analysis.suggestions.vectors import vectors_of
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.edges.matrix import IntArray, normalise_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.model.hooks import Capability

NEEDED = {Capability.EMBED, Capability.CALIBRATED}
"""What a method must be able to do."""

STRANGER = 0.5
"""A node that is less likely of a known class is taken for one of none."""

STRANGERS, OTHERS = 4_000, 1_000
"""So many of either are looked at, at most: beside others strangers are seen to be a group."""

FEWEST = 15
"""So many nodes a group has at least."""

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

    Groups are where nodes lie dense in the model's own vectors (HDBSCAN: Campello, Moulavi and
    Sander 2013) and most are strangers; those that lie scattered are in none. One class may be
    several groups. A method that cannot tell how likely a node is of a known class finds none.

    Args:
        state: The version.
        count: How many groups at most.
    """
    validate_value("count", count, PositiveInt)
    if not state.model.capabilities() >= NEEDED:
        return []
    graph = state.graph
    rows = graph.sampled(SAMPLE, graph.rows_of(list(state.labels.owners())))
    strange = state.answers(rows).known < STRANGER
    strangers = _some(graph, rows[strange], STRANGERS)
    if strangers.size < FEWEST:
        return []
    nodes = np.concatenate((strangers, _some(graph, rows[~strange], OTHERS)))
    vectors = vectors_of(state, nodes)
    groups = _dense(vectors, strangers.size)
    return [
        NewClass(
            len(group),
            telling_words(graph, nodes[group], graph.sampled(SAMPLE, nodes[group]), WORDS),
            tuple(graph.keys_of(nodes[group[_nearest(vectors[group])]])),
        )
        for group in sorted(groups, key=len, reverse=True)[:count]
    ]


def _some(graph: Graph, rows: IntArray, count: int) -> IntArray:
    return graph.view(rows).sampled(count, rows[:0])


def _dense(vectors: NDArray[np.float64], strangers: int) -> list[IntArray]:
    """The strangers of each group in which they are more than half; they come first."""
    # Slow to import, and only this needs it.
    from sklearn.cluster import HDBSCAN

    clusters = HDBSCAN(min_cluster_size=FEWEST, copy=True)
    found = clusters.fit_predict(normalise_rows(vectors))
    groups = [np.flatnonzero(found == group) for group in range(found.max() + 1)]
    return [
        group[group < strangers]
        for group in groups
        if (group < strangers).mean() > 1 / 2 and _alike(vectors[group]) > _alike(vectors)
    ]


def _alike(vectors: NDArray[np.float64]) -> float:
    """How much nodes have in common; those that are like nothing lie dense, too."""
    return float(np.linalg.norm(vectors.mean(axis=0)))


def _nearest(vectors: NDArray[np.float64]) -> IntArray:
    """The places of those nearest to the middle."""
    distances = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    return np.argsort(distances, kind="stable")[:EXAMPLES]
