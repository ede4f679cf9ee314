"""Embeddings of nodes by a model, in few dimensions."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.analysis.snapshot import State
from nodegraft.graph.edges.matrix import IntArray, Matrix, normalise_rows
from nodegraft.graph.graph import Graph

DIMENSIONS = 64
"""Number of dimensions; in thousands of words all nodes are far from each other."""


def vectors_of(state: State, rows: IntArray) -> NDArray[np.float64]:
    """Return the embeddings of nodes, in the dimensions in which these nodes differ most.

    Args:
        state: A version whose model can embed.
        rows: The nodes, by row.
    """
    # Imported here because it is slow to import.
    from sklearn.decomposition import TruncatedSVD

    vectors = wide_vectors_of(state, rows)
    reduction = TruncatedSVD(min(DIMENSIONS, *vectors.shape), random_state=0)
    reduced: NDArray[np.float64] = reduction.fit_transform(vectors)
    return reduced


def wide_vectors_of(state: State, rows: IntArray) -> Matrix:
    """Return the embeddings of nodes; in a graph without features, vectors of their neighbours.

    Args:
        state: A version whose model can embed.
        rows: The nodes, by row.
    """
    vectors = state.model.embed(state.graph, state.graph.keys_of(rows))
    return vectors if vectors.shape[1] else _neighbour_vectors(state.graph, rows)


def _neighbour_vectors(graph: Graph, rows: IntArray) -> Matrix:
    """Return a row of length 1 for each node, with an entry for each neighbour and for itself.

    Class scores are not used, because a map must not change when classes are added.
    """
    counts, found = graph.neighbours(rows)
    own = np.arange(rows.size)
    places = np.concatenate((np.repeat(own, counts), own))
    columns = np.concatenate((found, rows))
    ones = np.ones(columns.size, dtype=np.float32)
    # The constructor adds up entries at the same position.
    shape = (rows.size, graph.num_nodes)
    return normalise_rows(csr_array((ones, (places, columns)), shape=shape))
