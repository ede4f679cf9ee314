"""Two-dimensional map of a graph (t-SNE): similar nodes are close together."""

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
"""Maximum number of sampled nodes; with more nodes, t-SNE takes longer and points overlap."""

NEIGHBOURS, STEPS = 30.0, 400
"""Perplexity and number of iterations of t-SNE."""

FEWEST = 10
"""Minimum number of nodes for t-SNE; fewer nodes are drawn along two principal directions."""

LABELLED, OF_EACH = 500, 10
"""Maximum number of labelled nodes that are added to a map, in total and per class."""

ALIKE = 5
"""An added node is placed at the median position of this number of most similar sampled nodes."""

BLOCK = 8_192
"""Batch size for placing added nodes."""


@dataclass(frozen=True, eq=False)
class NodeMap:
    """Positions of sampled nodes on a two-dimensional map."""

    rows: IntArray
    """Row numbers of the sampled nodes in the graph."""

    places: NDArray[np.float64]
    """Horizontal and vertical position of each node, from 0 to 1: nodes x 2."""


def node_map(state: State) -> NodeMap:
    """Return a t-SNE map of the embeddings of a sample of nodes, selected by key hash.

    Nodes with similar embeddings are close on the map (van der Maaten and Hinton 2008,
    https://www.jmlr.org/papers/v9/vandermaaten08a.html); large distances have little meaning. The
    map is stored in the graph's cache, so that all processes that serve a store show the same map.
    """
    if Capability.EMBED not in state.model.capabilities():
        raise NotSupportedError(state.model.name, Capability.EMBED)
    rows = state.graph.sampled(NODES, state.graph.rows[:0])
    # The cache key omits labels, so that nodes keep their positions when classes change.
    depends_on = ("map", state.model.name, NODES, STEPS)
    cached = state.graph.array_cache.get(*depends_on)
    if cached is None:
        cached = {"places": _within_square(_flattened(vectors_of(state, rows)))}
        state.graph.array_cache.put(cached, *depends_on)
    return NodeMap(rows, cached["places"])


def coloured_map(state: State) -> tuple[NDArray[np.float64], NDArray[np.object_], list[str]]:
    """Return positions and predicted classes of a map's nodes, and all classes in colour order.

    The first classes are those of the latest session, because they are new; the most frequent
    classes follow.
    """
    sample = with_more(state, node_map(state))
    classes = state.predict(sample.rows).classes
    latest = max(state.labels.sessions.values())
    count = Counter(classes.tolist())

    def interest(name: str) -> tuple[bool, int]:
        return latest == 0 or state.labels[name].session < latest, -count[name]

    return sample.places, classes, sorted(state.labels, key=interest)


def with_more(state: State, sample: NodeMap, count: int = 0) -> NodeMap:
    """Add some labelled nodes of each class to a map, and optionally more sampled nodes.

    Args:
        count: Total number of nodes to sample from the graph; ignored unless above `NODES`.
    """
    graph, each = state.graph, max(1, min(OF_EACH, LABELLED // max(1, len(state.labels))))
    keys = [key for own in state.labels.values() for key in own.training[:each]][:LABELLED]
    more = graph.sampled(count - NODES, sample.rows) if count > NODES else sample.rows[:0]
    rows = np.setdiff1d(np.union1d(graph.rows_of(keys), more), sample.rows)
    if not rows.size:
        return sample
    theirs = normalise_rows(wide_vectors_of(state, sample.rows))
    places = [
        _beside(normalise_rows(wide_vectors_of(state, rows[start : start + BLOCK])), theirs, sample)
        for start in range(0, rows.size, BLOCK)
    ]
    return NodeMap(np.concatenate((sample.rows, rows)), np.concatenate((sample.places, *places)))


def _beside(own: Matrix, theirs: Matrix, sample: NodeMap) -> NDArray[np.float64]:
    """Return positions for added nodes: medians of the positions of the most similar nodes."""
    likeness = own @ theirs.T
    dense = np.asarray(likeness.toarray() if is_sparse(likeness) else likeness)
    beside = np.argpartition(-dense, min(ALIKE, dense.shape[1]) - 1, axis=1)[:, :ALIKE]
    places: NDArray[np.float64] = np.median(sample.places[beside], axis=1)
    return places


def _flattened(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    # Import here, because scikit-learn is slow to import.
    from sklearn.manifold import TSNE

    count, width = vectors.shape
    first = np.pad(vectors[:, :2], ((0, 0), (0, max(0, 2 - width))))
    if count < FEWEST:
        return first
    start = 1e-4 * first / max(float(first[:, 0].std()), 1e-12)
    close = min(NEIGHBOURS, count / 3)
    tsne = TSNE(perplexity=close, init=start, max_iter=STEPS, random_state=0)
    flat: NDArray[np.float64] = tsne.fit_transform(vectors)
    return flat


def _within_square(places: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = places.min(axis=0), places.max(axis=0)
    return np.asarray((places - low) / np.maximum(high - low, 1e-12), dtype=np.float64)
