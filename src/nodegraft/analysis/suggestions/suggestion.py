"""Suggest nodes to label: uncertain ones, each of which represents similar nodes."""

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.analysis.results.nodes import Suggestion
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import NotSupportedError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.edges.matrix import IntArray, Matrix, normalise_rows
from nodegraft.graph.graph import Graph
from nodegraft.model.hooks import Capability

CANDIDATES, FOR_EACH = 4_000, 10
"""Number of unlabelled nodes that are considered, and at least so many for each suggestion."""


def suggestions(state: State, count: int) -> list[Suggestion]:
    """Return unlabelled nodes to label next, those that represent most uncertain nodes first.

    A fair sample of nodes is clustered into ``count`` groups by k-means on the model's embeddings,
    weighted by uncertainty; of each group the node nearest to the centre is returned (after Zhdanov
    2019, https://arxiv.org/abs/1901.05954, who leaves out confident nodes first).
    """
    validate_value("count", count, PositiveInt)
    if Capability.EMBED not in state.model.capabilities():
        raise NotSupportedError(state.model.name, Capability.EMBED)
    graph = state.graph
    labelled = graph.rows_of(list(state.labels.owners()))
    rows = graph.sampled(max(CANDIDATES, FOR_EACH * count), labelled)
    if not rows.size:
        return []
    scores = state.model.score_rows(graph, rows)
    shares = state.model.probabilities(graph, scores)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :2]
    lead = np.take_along_axis(shares, best, axis=1)
    unsure = 1.0 - (lead[:, 0] - lead[:, -1])
    names = state.model.classes_
    found = [
        Suggestion(
            graph.keys_of(rows[[place]])[0],
            names[best[place, 0]],
            names[best[place, -1]],
            float(unsure[place]),
            size,
        )
        for place, size in _centres(vectors_of(state, rows), unsure, min(count, rows.size))
    ]
    return sorted(found, key=lambda node: (-node.similar_nodes, -node.uncertainty))


def _centres(
    vectors: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> Iterator[tuple[int, float]]:
    """Yield the position of the node nearest to each group's centre, and the group's weight."""
    # Imported here because it is slow to import.
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    # Equal nodes cannot be in different groups.
    count = min(count, len(np.unique(vectors, axis=0)))
    groups = KMeans(count, n_init=1, random_state=0)
    with warnings.catch_warnings():
        # Nodes that are almost equal give fewer groups, which is no error.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Weights must not all be 0, which they are if every prediction is certain.
        groups.fit(vectors, sample_weight=weights + 1e-9)
    distances = groups.transform(vectors)
    for group in range(count):
        members = np.flatnonzero(groups.labels_ == group)
        if members.size:
            yield int(members[distances[members, group].argmin()]), float(weights[members].sum())


DIMENSIONS = 64
"""Number of dimensions; in thousands of words all nodes are far from each other."""


def vectors_of(state: State, rows: IntArray) -> NDArray[np.float64]:
    """Return the embeddings of nodes, in the dimensions in which these nodes differ most."""
    # Imported here because it is slow to import.
    from sklearn.decomposition import TruncatedSVD

    vectors = wide_vectors_of(state, rows)
    reduction = TruncatedSVD(min(DIMENSIONS, *vectors.shape), random_state=0)
    reduced: NDArray[np.float64] = reduction.fit_transform(vectors)
    return reduced


def wide_vectors_of(state: State, rows: IntArray) -> Matrix:
    """Return the embeddings of nodes; in a graph without features, vectors of their neighbours."""
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
