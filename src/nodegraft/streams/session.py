"""Sessions of a stream: visible nodes, new labels and query nodes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView


@dataclass(frozen=True)
class Session:
    """Session of a stream; a method gets ``view`` and ``support``, only metrics get ``query``."""

    index: int
    """Number of the session; the known classes arrive in session 0."""

    view: GraphView
    """Visible part of the graph."""

    support: NodeLabels
    """Labels of the classes that arrive in this session."""

    query: NodeLabels
    """Query nodes of every class that has arrived up to this session."""

    def __repr__(self) -> str:
        return (
            f"Session({self.index}: {self.support.num_nodes:,} labels of {len(self.support)} new "
            f"classes, {self.query.num_nodes:,} queries of {len(self.query)} classes, "
            f"{self.view!r})"
        )


@dataclass(frozen=True)
class Sessions:
    """Sequence of sessions, which are created on access."""

    graph: Graph
    """Graph with all nodes, including nodes that become visible later."""

    entry: IntArray
    """Session in which each node becomes visible."""

    support: tuple[NodeLabels, ...]
    """Labels that arrive in each session."""

    query: tuple[NodeLabels, ...]
    """Query nodes of the classes that arrive in each session."""

    def __len__(self) -> int:
        return len(self.support)

    def __getitem__(self, index: int) -> Session:
        if not 0 <= index < len(self):
            raise ParameterError(f"The sessions are 0 to {len(self) - 1}; there is no {index}.")
        view = self.graph.view(np.flatnonzero(self.entry <= index))
        queries = {
            name: rows[self.entry[rows] <= index]
            for arrived in self.query[: index + 1]
            for name, rows in arrived.items()
        }
        return Session(index, view, self.support[index], NodeLabels(queries))

    def __iter__(self) -> Iterator[Session]:
        return (self[index] for index in range(len(self)))
