"""Nodes that are known by a number, to a graph."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.datasets.templates.typed_edges import TypedEdge
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import Matrix
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels


@dataclass(frozen=True, slots=True)
class NumberedNode:
    """One node: only ``text`` becomes features, never its number or its class."""

    key: int
    """Its number."""

    label: str
    """Its class."""

    text: str
    """What is said of it, in whatever form the raw file has."""


def merged_graph(
    nodes: Sequence[NumberedNode], features: Matrix, edges: Iterable[TypedEdge]
) -> tuple[Graph, NodeLabels]:
    """Rows in the order given; edges of all kinds become one, those of absent nodes none.

    >>> nodes = [NumberedNode(7, "x", ""), NumberedNode(3, "y", "")]
    >>> edges = [TypedEdge(3, 7, "a", True), TypedEdge(7, 3, "b", True), TypedEdge(3, 9, "a", True)]
    >>> graph, labels = merged_graph(nodes, np.eye(2), edges)
    >>> graph.keys_of([0, 1]), graph.num_edges, labels.classes
    ([7, 3], 1, ('x', 'y'))

    Args:
        nodes: The nodes.
        features: One row for each.
        edges: Who is joined to whom.
    """
    keys = NodeKeys(np.array([node.key for node in nodes], dtype=np.int64))
    ends = np.array([(edge.source, edge.target) for edge in edges], dtype=np.int64)
    graph = Graph.from_parts(keys, features, adjacency_between(keys, ends.reshape(-1, 2)))
    return graph, NodeLabels.from_names(node.label for node in nodes)


def adjacency_between(keys: NodeKeys, ends: NDArray[np.int64]) -> Adjacency:
    """The edges both of whose ends are there.

    Args:
        keys: The nodes.
        ends: Two numbers of nodes for each edge.
    """
    rows = keys.find(ends.ravel()).reshape(ends.shape)
    rows = rows[(rows >= 0).all(axis=1)]
    return Adjacency.from_edges(rows[:, 0], rows[:, 1], len(keys))
