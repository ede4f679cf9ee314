"""One step of a stream: what is visible, what teaches, what is asked."""

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
    """One step: a method gets ``view`` and ``support``, only the metric gets ``query``."""

    index: int
    """Its number; 0 is the one that teaches the known classes."""

    view: GraphView
    """What exists by now."""

    support: NodeLabels
    """The labels of the classes that arrive."""

    query: NodeLabels
    """Held-out nodes of every class seen so far, to be asked about."""

    def __repr__(self) -> str:
        return (
            f"Session({self.index}: {self.support.num_nodes:,} labels of {len(self.support)} new "
            f"classes, {self.query.num_nodes:,} queries of {len(self.query)} classes, "
            f"{self.view!r})"
        )


@dataclass(frozen=True)
class Sessions:
    """Sessions in order, each made when it is asked for, from nothing but what they show."""

    graph: Graph
    """All nodes, those that come into sight later among them."""

    entry: IntArray
    """The session in which each node comes into sight."""

    support: tuple[NodeLabels, ...]
    """What teaches in each session."""

    query: tuple[NodeLabels, ...]
    """For each session the nodes that are asked about of the classes that arrive with it."""

    def __len__(self) -> int:
        return len(self.support)

    def __getitem__(self, index: int) -> Session:
        if not 0 <= index < len(self):
            raise ParameterError(f"The sessions are 0 to {len(self) - 1}; there is no {index}.")
        view = self.graph.view(np.flatnonzero(self.entry <= index))
        asked = {
            name: rows[self.entry[rows] <= index]
            for arrived in self.query[: index + 1]
            for name, rows in arrived.items()
        }
        return Session(index, view, self.support[index], NodeLabels(asked))

    def __iter__(self) -> Iterator[Session]:
        return (self[index] for index in range(len(self)))
