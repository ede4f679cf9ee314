"""Features of nodes whose type has none: the mean of their neighbours' features.

Zeros instead would lower accuracy: see ``docs/explanation/node-types.md``.
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray, Matrix, is_sparse, placed_rows
from nodegraft.graph.graph import Graph


def neighbour_means(
    owner: IntArray, neighbours: IntArray, count: int, features_of: Callable[[IntArray], Matrix]
) -> Matrix:
    """Return the mean features of the neighbours of some nodes; zeros for nodes without any.

    >>> x = np.array([[1.0], [3.0], [5.0]])
    >>> owner, neighbours = np.array([0, 0, 0]), np.array([1, 2, 2])
    >>> neighbour_means(owner, neighbours, 2, lambda rows: x[rows]).ravel().tolist()
    [4.0, 0.0]

    Args:
        owner: For each edge, the position of the node whose mean is computed.
        neighbours: For each edge, the row number of the neighbour; an edge that is given twice
            counts once.
        count: Number of nodes whose mean is computed.
        features_of: Function from ascending row numbers to their features.
    """
    rows, columns = np.unique(neighbours, return_inverse=True)
    edges = np.unique(owner * max(rows.size, 1) + columns)
    owner, columns = np.divmod(edges, max(rows.size, 1))
    degrees = np.bincount(owner, minlength=count)
    shares = (1.0 / np.maximum(degrees, 1)[owner]).astype(np.float32)
    features = features_of(rows)
    means = csr_array((shares, (owner, columns)), shape=(count, rows.size)) @ features
    return csr_array(means, dtype=np.float32) if is_sparse(features) else means


def with_mean_features(graph: Graph, rows: IntArray) -> Graph:
    """Return a graph in which some nodes have the mean features of their neighbours among others.

    Args:
        graph: Graph to change.
        rows: Row numbers of these nodes, ascending.
    """
    counts, neighbours = graph.neighbours(rows)
    owner = np.repeat(np.arange(rows.size), counts)
    others = ~np.isin(neighbours, rows)
    means = neighbour_means(owner[others], neighbours[others], rows.size, graph.features)
    stay = np.setdiff1d(graph.rows, rows)
    given = placed_rows(graph.features(stay), stay, graph.num_nodes)
    return graph.with_features(given + placed_rows(means, rows, graph.num_nodes))
