"""Arrivals: the session in which each node becomes visible."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.streams.split import ClassSplit

Arrival = Literal["growing", "mixed", "blurred", "present", "with-class", "isolated"]
ARRIVALS: tuple[Arrival, ...] = get_args(Arrival)
BLUR = 2.0
"""Standard deviation, in sessions, of the time at which a node arrives with ``"blurred"``."""
NEVER = np.iinfo(np.int64).max


def entry_sessions(split: ClassSplit, arrival: Arrival, others: IntArray) -> NDArray[np.int64]:
    """Return the session in which each node becomes visible.

    With ``"present"`` all nodes are visible from the start, with ``"with-class"`` and
    ``"isolated"`` when their class arrives. ``"growing"`` is like ``"with-class"``, but half of the
    query nodes arrive later, in equal shares over the following sessions, so that a new node is not
    always of a new class.

    With ``"mixed"`` and ``"blurred"`` query nodes also arrive before their class: with ``"mixed"``
    in equal shares over all sessions, whatever their class; with ``"blurred"`` at times normally
    distributed around the session of their class, with standard deviation ``BLUR``. Training
    nodes arrive with their class at the latest. Validation classes are in no session.

    Args:
        split: Classes of each session, and their query nodes.
        arrival: How nodes arrive.
        others: Session for each row; used for nodes of no class of the split.
    """
    entry = others.astype(np.int64)
    entry[split.members.select(split.validation).rows()] = NEVER
    for index in range(split.num_sessions):
        for name in split.arriving(index):
            entry[split.members[name]] = 0 if arrival == "present" else index
            generator = Seeds(split.seed).generator(arrival, name)
            rows = generator.permutation(np.sort(split.queried[name]))
            if arrival == "growing":
                late = rows[(rows.size + 1) // 2 :] if index + 1 < split.num_sessions else rows[:0]
                entry[late] = index + 1 + _equal_shares(late.size, split.num_sessions - index - 1)
            elif arrival in ("mixed", "blurred"):
                rest = generator.permutation(np.setdiff1d(split.members[name], rows))
                for part, latest in ((rows, split.num_sessions - 1), (rest, index)):
                    if arrival == "mixed":
                        drawn = _equal_shares(part.size, split.num_sessions)
                    else:
                        drawn = _around(index, part.size)
                    entry[part] = drawn.clip(0, latest)
    return entry


def without_edges_between_sessions(graph: Graph, entry: IntArray) -> Graph:
    """Remove edges between nodes of different sessions, for the arrival ``"isolated"``.

    Args:
        entry: Session in which each node becomes visible.
    """
    return graph.keeping_edges(lambda source, target: entry[source] == entry[target])


def without_hidden_nodes(graph: Graph, visible: IntArray) -> Graph:
    """Remove features and edges of hidden nodes; every row keeps its number."""
    stays = np.zeros(graph.num_nodes, dtype=bool)
    stays[visible] = True
    if stays.all():
        return graph
    features = graph.features(graph.rows)
    if isinstance(features, csr_array):
        counts = np.diff(features.indptr)
        entries = np.repeat(stays, counts)
        ends = np.concatenate(([0], np.cumsum(np.where(stays, counts, 0))))
        parts = features.data[entries], features.indices[entries], ends
        shown = csr_array(parts, shape=features.shape)
    else:
        shown = np.where(stays[:, None], features, features.dtype.type(0))
    bare = graph.keeping_edges(lambda source, target: stays[source] & stays[target])
    return bare.with_features(shown)


def _around(session: int, count: int) -> NDArray[np.int64]:
    """Return sessions at equally spaced quantiles of the normal distribution around a session.

    Quantiles instead of random draws: the first is never after ``session``, so that some query
    nodes of a class are always visible when it arrives.
    """
    # scipy.special is slow to import and needed for this arrival only.
    from scipy.special import ndtri

    quantiles = ndtri((np.arange(count) + 0.5) / max(count, 1))
    sessions: NDArray[np.int64] = np.rint(session + BLUR * quantiles).astype(np.int64)
    return sessions


def _equal_shares(count: int, shares: int) -> NDArray[np.int64]:
    return np.arange(count) * shares // max(count, 1)
