"""Where nodes lie in a picture of a graph: those that are like each other close together."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.snapshot import State
from nodegraft.analysis.suggestions.vectors import vectors_of, wide_vectors_of
from nodegraft.base.errors import NotSupportedError
from nodegraft.graph.edges.matrix import IntArray, is_sparse, normalise_rows
from nodegraft.model.hooks import Capability

NODES = 1_500
"""So many are shown at most: more would take longer, and lie on each other."""

NEIGHBOURS, STEPS = 30.0, 400
"""About so many others each node is kept close to, and so many times all are moved."""

FEWEST = 10
"""Fewer nodes are shown by the two directions in which they differ most."""

LABELLED, OF_EACH = 500, 10
"""So many labelled nodes are shown besides, and so many of each class at most: of a class that is
small beside its graph a fair sample has nobody."""

ALIKE = 5
"""They are put among so many nodes that are most like them."""


@dataclass(frozen=True, eq=False)
class NodeMap:
    """Some nodes of a graph in the plane."""

    rows: IntArray
    """The nodes."""

    places: NDArray[np.float64]
    """Across and up, each from 0 to 1: nodes x 2."""


def node_map(state: State) -> NodeMap:
    """A map of a fair sample of nodes, by the model's own vectors.

    Nodes that are close in many dimensions are kept close in two (t-SNE: van der Maaten and Hinton
    2008, https://www.jmlr.org/papers/v9/vandermaaten08a.html). How far apart others are means
    little. It lies on the graph's shelf: all processes that serve a store show the same one, and
    the next one need not work it out.

    Args:
        state: A version.
    """
    if Capability.EMBED not in state.model.capabilities():
        raise NotSupportedError(state.model.name, Capability.EMBED)
    rows = state.graph.sampled(NODES, state.graph.rows[:0])
    # Not by its labels: nodes stay where they are while classes come and go.
    depends_on = ("map", state.model.name, NODES, STEPS)
    kept = state.graph.shelf.get(*depends_on)
    if kept is None:
        kept = {"places": _within_square(_flattened(vectors_of(state, rows)))}
        state.graph.shelf.put(kept, *depends_on)
    return NodeMap(rows, kept["places"])


def with_labelled(state: State, drawn: NodeMap) -> NodeMap:
    """A map with some nodes that teach each class, whether they were drawn or not.

    Args:
        state: A version of the graph that the map is of.
        drawn: The map.
    """
    each = max(1, min(OF_EACH, LABELLED // max(1, len(state.labels))))
    keys = [key for one in state.labels.values() for key in one.taught[:each]][:LABELLED]
    rows = np.setdiff1d(state.graph.rows_of(keys), drawn.rows)
    if not rows.size:
        return drawn
    own, others = (normalise_rows(wide_vectors_of(state, some)) for some in (rows, drawn.rows))
    likeness = own @ others.T
    dense = np.asarray(likeness.toarray() if is_sparse(likeness) else likeness)
    beside = np.argsort(-dense, axis=1, kind="stable")[:, :ALIKE]
    places = np.median(drawn.places[beside], axis=1)
    return NodeMap(np.concatenate((drawn.rows, rows)), np.concatenate((drawn.places, places)))


def _flattened(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    # Slow to import, and only this needs it.
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
