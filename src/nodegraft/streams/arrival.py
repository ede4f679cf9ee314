"""Computation of the session in which each node becomes visible (its arrival)."""

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
"""Standard deviation, in sessions, of the arrival times of nodes with ``"blurred"``."""
NEVER = np.iinfo(np.int64).max


def entry_sessions(split: ClassSplit, arrival: Arrival, others: IntArray) -> NDArray[np.int64]:
    """Return the session in which each node becomes visible.

    - ``"present"``: all nodes are visible from the start.
    - ``"with-class"`` and ``"isolated"``: nodes arrive with their class.
    - ``"growing"``: like ``"with-class"``, but half of the query nodes arrive later, in equal
      shares over the following sessions, so that a new node is not always of a new class.
    - ``"mixed"``: nodes arrive in equal shares over all sessions, whatever their class.
    - ``"blurred"``: nodes arrive at times that are normally distributed around the session of their
      class, with standard deviation ``BLUR``.

    With ``"mixed"`` and ``"blurred"``, query nodes can arrive before their class, and training
    nodes arrive with their class at the latest. Nodes of validation classes never arrive.

    Args:
        split: Classes of each session, and their query nodes.
        arrival: Name of the arrival, from the list above.
        others: Session of each row; only used for nodes that are in no class of the split.
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
                        counts = _equal_shares(part.size, split.num_sessions)
                    else:
                        counts = _around(index, part.size)
                    entry[part] = counts.clip(0, latest)
    return entry


def without_edges_between_sessions(graph: Graph, entry: IntArray) -> Graph:
    """Return a graph without edges between nodes of different sessions (arrival ``"isolated"``)."""
    return graph.keeping_edges(lambda source, target: entry[source] == entry[target])


def without_hidden_nodes(graph: Graph, visible: IntArray) -> Graph:
    """Return a graph without features and edges of hidden nodes; row numbers do not change."""
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
        matrix = csr_array(parts, shape=features.shape)
    else:
        matrix = np.where(stays[:, None], features, features.dtype.type(0))
    bare = graph.keeping_edges(lambda source, target: stays[source] & stays[target])
    return bare.with_features(matrix)


def _around(session: int, count: int) -> NDArray[np.int64]:
    """Return sessions at equally spaced quantiles of the normal distribution around a session.

    With random draws, all query nodes of a class could arrive after the class. With quantiles, the
    first node never arrives after ``session``.
    """
    # Import scipy.special only when needed, because its import is slow.
    from scipy.special import ndtri

    quantiles = ndtri((np.arange(count) + 0.5) / max(count, 1))
    sessions: NDArray[np.int64] = np.rint(session + BLUR * quantiles).astype(np.int64)
    return sessions


def _equal_shares(count: int, shares: int) -> NDArray[np.int64]:
    return np.arange(count) * shares // max(count, 1)
