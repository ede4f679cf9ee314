"""Graphs drawn by seed, and the slow and obvious way to everything."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray, Matrix
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


def joined_in(graph: Graph) -> NDArray[np.bool_]:
    return joined(*graph.edges(), graph.num_nodes)


def normalised(matrix: NDArray[np.bool_]) -> Dense:
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
