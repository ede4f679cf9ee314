"""Map of a graph: positions of nodes in the plane, similar nodes close together."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.snapshot import State
from nodegraft.analysis.suggestions import vectors_of, wide_vectors_of
from nodegraft.base.errors import NotSupportedError
from nodegraft.graph.edges.matrix import IntArray, Matrix, is_sparse, normalise_rows
from nodegraft.model.hooks import Capability

NODES = 1_500
"""Largest number of sampled nodes: more would take longer and overlap."""

NEIGHBOURS, STEPS = 30.0, 400
"""Perplexity and number of iterations of t-SNE."""

FEWEST = 10
"""With fewer nodes, the first two principal directions are used instead of t-SNE."""

LABELLED, OF_EACH = 500, 10
"""Largest number of labelled nodes that are added, in all and of each class: a sample may have no
node of a small class."""

ALIKE = 5
"""An added node is placed at the median of so many sampled nodes that are most similar to it."""

BLOCK = 8_192
"""Number of added nodes that are placed at a time."""


@dataclass(frozen=True, eq=False)
class NodeMap:
    """Positions of some nodes of a graph in the plane."""

    rows: IntArray
    """The nodes, by row."""

    places: NDArray[np.float64]
    """Horizontal and vertical position, each from 0 to 1: nodes x 2."""


def node_map(state: State) -> NodeMap:
    """Return a map of a fair sample of nodes, made by t-SNE of the model's embeddings.

    Nodes with similar embeddings are close on the map (van der Maaten and Hinton 2008,
    https://www.jmlr.org/papers/v9/vandermaaten08a.html); large distances mean little. The map is in
    the cache of the graph, so that all processes that serve a store show the same one.
    """
    if Capability.EMBED not in state.model.capabilities():
        raise NotSupportedError(state.model.name, Capability.EMBED)
    rows = state.graph.sampled(NODES, state.graph.rows[:0])
    # The key does not contain the labels, so that nodes keep their positions when classes change.
    depends_on = ("map", state.model.name, NODES, STEPS)
    cached = state.graph.array_cache.get(*depends_on)
    if cached is None:
        cached = {"places": _within_square(_flattened(vectors_of(state, rows)))}
        state.graph.array_cache.put(cached, *depends_on)
    return NodeMap(rows, cached["places"])


def coloured_map(state: State) -> tuple[NDArray[np.float64], NDArray[np.object_], list[str]]:
    """Return positions and predicted classes of a map, and all classes in order of interest.

    Classes of the latest session are first, because they are what changed; then the most frequent.
    """
    drawn = with_more(state, node_map(state))
    classes = state.predict(drawn.rows).classes
    latest = max(state.labels.sessions.values())
    count = Counter(classes.tolist())

    def interest(name: str) -> tuple[bool, int]:
        return latest == 0 or state.labels[name].session < latest, -count[name]

    return drawn.places, classes, sorted(state.labels, key=interest)


def with_more(state: State, drawn: NodeMap, count: int = 0) -> NodeMap:
    """Return a map that also has some labelled nodes of each class, and more nodes if asked.

    Args:
        count: Number of nodes to sample from the graph; ignored unless above `NODES`.
    """
    graph, each = state.graph, max(1, min(OF_EACH, LABELLED // max(1, len(state.labels))))
    keys = [key for own in state.labels.values() for key in own.taught[:each]][:LABELLED]
    more = graph.sampled(count - NODES, drawn.rows) if count > NODES else drawn.rows[:0]
    rows = np.setdiff1d(np.union1d(graph.rows_of(keys), more), drawn.rows)
    if not rows.size:
        return drawn
    theirs = normalise_rows(wide_vectors_of(state, drawn.rows))
    places = [
        _beside(normalise_rows(wide_vectors_of(state, rows[start : start + BLOCK])), theirs, drawn)
        for start in range(0, rows.size, BLOCK)
    ]
    return NodeMap(np.concatenate((drawn.rows, rows)), np.concatenate((drawn.places, *places)))


def _beside(own: Matrix, theirs: Matrix, drawn: NodeMap) -> NDArray[np.float64]:
    """Return positions of nodes beside the most similar nodes of a map."""
    likeness = own @ theirs.T
    dense = np.asarray(likeness.toarray() if is_sparse(likeness) else likeness)
    beside = np.argpartition(-dense, min(ALIKE, dense.shape[1]) - 1, axis=1)[:, :ALIKE]
    places: NDArray[np.float64] = np.median(drawn.places[beside], axis=1)
    return places


def _flattened(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    # Imported here because it is slow to import.
    from sklearn.manifold import TSNE

    count, width = vectors.shape
    first = np.pad(vectors[:, :2], ((0, 0), (0, max(0, 2 - width))))
    if count < FEWEST:
        return first
    start = 1e-4 * first / max(float(first[:, 0].std()), 1e-12)
    close = min(NEIGHBOURS, count / 3)
    moved = TSNE(perplexity=close, init=start, max_iter=STEPS, random_state=0)
    flat: NDArray[np.float64] = moved.fit_transform(vectors)
    return flat


def _within_square(places: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-12), dtype=np.float64)
