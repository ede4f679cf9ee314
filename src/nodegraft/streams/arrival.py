"""When nodes come into sight: the one thing in which the arrivals differ."""

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.streams.split import ClassSplit

Arrival = Literal["growing", "present", "with-class", "isolated"]
ARRIVALS: tuple[Arrival, ...] = get_args(Arrival)
NEVER = np.iinfo(np.int64).max


def entry_sessions(split: ClassSplit, arrival: Arrival, others: IntArray) -> NDArray[np.int64]:
    """The session in which each node comes into sight.

    ``"present"`` shows everything from the start, ``"with-class"`` and ``"isolated"`` a class when
    it arrives. ``"growing"`` does so too, but half of the nodes that are asked about come later, in
    equal shares over the sessions that follow: that a node is new says less about its class.
    Validation classes are in no session.

    Args:
        split: Which classes arrive when, and which of their nodes are asked about.
        arrival: How nodes arrive.
        others: The same for nodes of no class of the split; one number for each row.
    """
    entry = others.astype(np.int64)
    entry[split.members.select(split.validation).rows()] = NEVER
    for index in range(split.num_sessions):
        for name in split.arriving(index):
            entry[split.members[name]] = 0 if arrival == "present" else index
            if arrival == "growing":
                generator = Seeds(split.seed).generator("growing", name)
                rows = generator.permutation(np.sort(split.queried[name]))
                late = rows[(rows.size + 1) // 2 :] if index + 1 < split.num_sessions else rows[:0]
                entry[late] = index + 1 + _equal_shares(late.size, split.num_sessions - index - 1)
    return entry


def without_edges_between_sessions(graph: Graph, entry: IntArray) -> Graph:
    """The graph of the arrival ``"isolated"``: only nodes that come together stay joined.

    Args:
        graph: The graph.
        entry: The session in which each node comes into sight.
    """
    return graph.keeping_edges(lambda source, target: entry[source] == entry[target])


def _equal_shares(count: int, shares: int) -> NDArray[np.int64]:
    return np.arange(count) * shares // max(count, 1)
