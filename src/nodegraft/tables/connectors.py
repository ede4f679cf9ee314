"""Features of nodes whose type has no feature columns: the mean of their neighbours' features."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from nodegraft.graph.edges.matrix import IntArray, Matrix, is_sparse, placed_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import KeyArray, NodeKeys
from nodegraft.graph.mean_features import neighbour_means, with_mean_features
from nodegraft.graph.node_types import type_numbers
from nodegraft.tables.edges import GivenEdges
from nodegraft.tables.features.recipe import FeatureRecipe


def is_connector(keys: KeyArray, recipe: FeatureRecipe) -> NDArray[np.bool_]:
    """Return for each node whether its type is not classified and has no feature columns.

    Args:
        keys: Keys of the nodes.
        recipe: Recipe of their features.
    """
    if len(recipe.node_types) < 2 or not recipe.num_features:
        return np.zeros(keys.size, dtype=bool)
    bare = np.array([not recipe.features_of(name).any() for name in recipe.node_types])
    bare[0] = False
    found: NDArray[np.bool_] = bare[type_numbers(keys, recipe.node_types)]
    return found


def with_means(
    matrix: Matrix, keys: NodeKeys, edges: GivenEdges, recipe: FeatureRecipe, old: Graph | None
) -> Matrix:
    """Return the features of new nodes, with the means of neighbours for types without columns.

    Args:
        matrix: Features of the new nodes, which are the last rows of all nodes.
        keys: Keys of all nodes.
        edges: New edges, by row numbers of all nodes.
        recipe: Recipe of the features.
        old: Graph without the new nodes; None if all nodes are new.
    """
    start = len(keys) - matrix.shape[0]
    rows = np.flatnonzero(is_connector(keys.array_at(np.arange(start, len(keys))), recipe))
    if not rows.size:
        return matrix
    place = np.full(len(keys), -1, dtype=np.int64)
    place[start + rows] = np.arange(rows.size)
    owner = place[np.concatenate((edges.source, edges.target))]
    neighbours = np.concatenate((edges.target, edges.source))
    owner, neighbours = owner[owner >= 0], neighbours[owner >= 0]
    featured = ~is_connector(keys.array_at(neighbours), recipe)

    def features_of(some: IntArray) -> Matrix:
        new = matrix[some[some >= start] - start]
        if old is None:
            return new
        parts = [old.features(some[some < start]), new]
        return csr_array(vstack(parts)) if is_sparse(new) else np.concatenate(parts)

    means = neighbour_means(owner[featured], neighbours[featured], rows.size, features_of)
    return matrix + placed_rows(means, rows, matrix.shape[0])


def with_new_means(graph: Graph) -> Graph:
    """Return a graph in which the means are computed again, because nodes were removed.

    Args:
        graph: Graph with a recipe.
    """
    if not isinstance(graph.recipe, FeatureRecipe):
        return graph
    rows = np.flatnonzero(is_connector(graph.key_array_of(graph.rows), graph.recipe))
    return with_mean_features(graph, rows) if rows.size else graph
