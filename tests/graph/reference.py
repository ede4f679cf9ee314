"""Graphs drawn by seed, and the slow and obvious way to everything."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import OUT
from nodegraft.graph.edges.matrix import IntArray, Matrix
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys

Dense = NDArray[np.float64]


def random_edges(nodes: int = 40, edges: int = 60, seed: int = 0) -> IntArray:
    """Two rows of ends; the last five nodes stay isolated, some edges repeat, some are loops."""
    return np.random.default_rng(seed).integers(nodes - 5, size=(2, edges))


def random_graph(sparse: bool = False, nodes: int = 40, edges: int = 60, seed: int = 0) -> Graph:
    """Seven features, half of them zero."""
    draws = np.random.default_rng(seed + 1)
    values = draws.standard_normal((nodes, 7)) * (draws.random((nodes, 7)) < 0.5)
    features: Matrix = csr_array(values) if sparse else values
    source, target = random_edges(nodes, edges, seed)
    adjacency = Adjacency.from_edges(source, target, nodes)
    return Graph.from_parts(NodeKeys(np.arange(nodes)), features, adjacency)


def joined(source: IntArray, target: IntArray, nodes: int) -> NDArray[np.bool_]:
    """The dense adjacency of undirected edges, without loops."""
    matrix = np.zeros((nodes, nodes), dtype=bool)
    for a, b in zip(source.tolist(), target.tolist(), strict=True):
        matrix[a, b] = matrix[b, a] = a != b
    return matrix


def stored(adjacency: Adjacency) -> NDArray[np.bool_]:
    """The dense form of every entry that is stored, in both directions or not."""
    matrix = np.zeros((adjacency.num_nodes,) * 2, dtype=bool)
    for row in range(adjacency.num_nodes):
        columns = adjacency.indices[adjacency.indptr[row] : adjacency.indptr[row + 1]]
        assert (np.diff(columns) > 0).all()
        matrix[row, columns] = True
    return matrix


def weighed(source: IntArray, target: IntArray, weights: Any, nodes: int) -> Dense:
    """The dense adjacency of weighted edges; of an edge told twice the larger weight counts."""
    matrix = np.zeros((nodes, nodes))
    for a, b, weight in zip(source.tolist(), target.tolist(), weights.tolist(), strict=True):
        if a != b:
            matrix[a, b] = matrix[b, a] = max(matrix[a, b], weight)
    return matrix


def leading(source: IntArray, target: IntArray, nodes: int) -> NDArray[np.bool_]:
    """Whether an edge leads from the row to the column."""
    matrix = np.zeros((nodes, nodes), dtype=bool)
    matrix[source, target] = source != target
    return matrix


def weights_in(adjacency: Adjacency) -> Dense:
    """The weight of every entry that is stored, 1 where there is none."""
    matrix = stored(adjacency).astype(np.float64)
    matrix[matrix > 0] = 1.0 if adjacency.weights is None else adjacency.weights
    return matrix


def random_kinds(nodes: int = 40, seed: int = 0) -> dict[str, Adjacency]:
    """Three kinds of edges, which share some: plain, weighted, and both weighted and directed."""
    draws = np.random.default_rng(seed)
    (a, b), (c, d), (e, f) = (random_edges(nodes, 90, 3 * seed + place) for place in range(3))
    # Told twice with other weights, and some of them both ways.
    e, f = np.concatenate((e, a[:30], f[:20])), np.concatenate((f, b[:30], e[:20]))
    weights = draws.uniform(0.1, 3.0, c.size + e.size).astype(np.float32)
    return {
        "plain": Adjacency.from_edges(a, b, nodes),
        "heavy": Adjacency.from_edges(c, d, nodes, weights=weights[: c.size]),
        "told": Adjacency.from_edges(
            e, f, nodes, weights=weights[c.size :], directions=np.full(e.size, OUT)
        ),
    }


def typed_graph(sparse: bool = False, nodes: int = 40, seed: int = 0) -> Graph:
    """The same nodes as :func:`random_graph`, joined by :func:`random_kinds`."""
    features = random_graph(sparse, nodes, seed=seed).features(np.arange(nodes))
    return Graph.from_parts(NodeKeys(np.arange(nodes)), features, random_kinds(nodes, seed))


def joined_in(graph: Graph) -> NDArray[np.bool_]:
    return joined(*graph.edges(), graph.num_nodes)


def normalised(matrix: NDArray[Any]) -> Dense:
    """The dense D^-1/2 (A + I) D^-1/2."""
    looped = matrix + np.eye(len(matrix))
    degrees = looped.sum(axis=1)
    return np.asarray(looped / np.sqrt(np.outer(degrees, degrees)))


def within(matrix: NDArray[np.bool_], rows: IntArray, hops: int) -> IntArray:
    """All nodes at most so many steps away."""
    reached = np.zeros(len(matrix), dtype=bool)
    reached[rows] = True
    for _ in range(hops):
        reached |= matrix[reached].any(axis=0)
    return np.flatnonzero(reached)


def dense(matrix: Any) -> Dense:
    """Whatever it is, as plain numbers."""
    plain = matrix.toarray() if isinstance(matrix, csr_array) else np.asarray(matrix)
    return plain.astype(np.float64)


def everyone(graph: Graph) -> IntArray:
    return np.arange(graph.num_nodes)
