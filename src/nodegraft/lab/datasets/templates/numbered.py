"""Nodes that are known by a number, to a graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.relation import by_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.typed_edges import TypedEdge


@dataclass(frozen=True, slots=True)
class NumberedNode:
    """One node: only ``text`` becomes features, never its number or its class."""

    key: int
    """Its number."""

    label: str
    """Its class."""

    text: str
    """What is said of it, in whatever form the raw file has."""


def typed_graph(
    nodes: Sequence[NumberedNode], features: Matrix, edges: Iterable[TypedEdge]
) -> tuple[Graph, NodeLabels]:
    """Rows in the order given; edges of absent nodes are passed over.

    >>> nodes = [NumberedNode(7, "x", ""), NumberedNode(3, "y", "")]
    >>> edges = [TypedEdge(3, 7, "a", True), TypedEdge(7, 3, "b", True), TypedEdge(3, 9, "a", True)]
    >>> graph, labels = typed_graph(nodes, np.eye(2), edges)
    >>> graph.keys_of([0, 1]), graph.relations, graph.num_edges, labels.classes
    ([7, 3], ('a', 'b'), 1, ('x', 'y'))
    """
    keys = NodeKeys(np.array([node.key for node in nodes], dtype=np.int64))
    by_kind: dict[tuple[str, bool], list[tuple[int, int]]] = {}
    for edge in edges:
        kind = edge.kind, edge.is_directed
        by_kind.setdefault(kind, []).append((edge.source, edge.target))
    graph = Graph.from_parts(
        keys,
        features,
        {
            name: adjacency_between(keys, np.array(by_kind[name, directed]), directed)
            for name, directed in sorted(by_kind)
        }
        or adjacency_between(keys, np.zeros((0, 2), dtype=np.int64)),
    )
    return graph, NodeLabels.from_names(node.label for node in nodes)


def adjacency_between(keys: NodeKeys, ends: NDArray[np.int64], directed: bool = False) -> Adjacency:
    """The edges both of whose ends are there.

    Args:
        directed: Whether the first number is where the edge starts.
    """
    rows = keys.find(ends.ravel()).reshape(ends.shape)
    rows = rows[(rows >= 0).all(axis=1)]
    return by_rows(rows[:, 0], rows[:, 1], len(keys), None, directed)
