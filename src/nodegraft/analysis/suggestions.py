"""Suggestions: nodes to label next, and groups of nodes that may be a new class."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.analysis.results.nodes import NewClass, Suggestion
from nodegraft.analysis.snapshot import SAMPLE, State
from nodegraft.base.errors import NotSupportedError
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.graph.edges.matrix import IntArray, Matrix, normalise_rows
from nodegraft.graph.graph import Graph
from nodegraft.model.hooks import Capability
from nodegraft.tables.features.recipe import FeatureRecipe

CANDIDATES, FOR_EACH = 4_000, 10
"""Sample size of unlabelled nodes: ``CANDIDATES``, or ``FOR_EACH`` per suggestion if more."""


def suggestions(state: State, count: int) -> list[Suggestion]:
    """Return unlabelled nodes to label next; nodes that represent the most uncertainty are first.

    A sample of unlabelled nodes is clustered into ``count`` groups by k-means on the embeddings of
    the model, weighted by uncertainty. The node nearest to the centre of each group is returned
    (after Zhdanov 2019, https://arxiv.org/abs/1901.05954, who leaves out confident nodes first).
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
    nodes = [
        Suggestion(
            graph.keys_of(rows[[place]])[0],
            names[best[place, 0]],
            names[best[place, -1]],
            float(unsure[place]),
            size,
        )
        for place, size in group_representatives(
            vectors_of(state, rows), unsure, min(count, rows.size)
        )
    ]
    return sorted(nodes, key=lambda node: (-node.similar_nodes, -node.uncertainty))


ROUNDS, TOLERANCE = 300, 1e-4
"""Limits of k-means: rounds, and movement of the centres relative to the variance (scikit-learn's
defaults)."""


def group_representatives(
    vectors: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> Iterator[tuple[int, float]]:
    """Cluster vectors; yield the index nearest to the centre of each group, and its weight.

    Args:
        vectors: A row for each node.
        weights: Weight of each node.
        count: Number of groups; there are fewer if vectors are equal.
    """
    # Nodes with equal vectors cannot be in different groups, so there may be fewer groups.
    count = min(count, len(np.unique(vectors, axis=0)))
    # If every prediction is certain, all weights are 0, so add a small number.
    distances = _distances_to_centres(vectors, weights + 1e-9, count)
    group_of = distances.argmin(axis=1)
    for group in range(count):
        members = np.flatnonzero(group_of == group)
        if members.size:
            yield int(members[distances[members, group].argmin()]), float(weights[members].sum())


def _distances_to_centres(
    vectors: NDArray[np.float64], weights: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Cluster vectors by k-means; return the squared distance of each vector to each centre.

    ``sklearn.cluster.KMeans`` is not used: it warns if a group becomes empty, and a thread cannot
    ignore the warning, because ``warnings.catch_warnings`` acts on all threads.
    """
    # Import here, because scikit-learn is slow to import.
    from sklearn.cluster import kmeans_plusplus
    from sklearn.metrics.pairwise import euclidean_distances

    # Around their mean, numbers are smaller, and so are rounding errors of distances.
    vectors = vectors - vectors.mean(axis=0)
    centres, _ = kmeans_plusplus(vectors, count, sample_weight=weights, random_state=0)
    least = TOLERANCE * vectors.var(axis=0).mean()
    places = np.arange(len(vectors))
    for _ in range(ROUNDS):
        group_of = euclidean_distances(vectors, centres, squared=True).argmin(axis=1)
        members = csr_array((weights, (group_of, places)), shape=(count, len(vectors)))
        mass = members.sum(axis=1)[:, None]
        # An empty group keeps its centre.
        new_centres = np.where(mass > 0, members @ vectors / np.where(mass > 0, mass, 1.0), centres)
        movement, centres = np.square(new_centres - centres).sum(), new_centres
        if movement <= least:
            break
    distances: NDArray[np.float64] = euclidean_distances(vectors, centres, squared=True)
    return distances


DIMENSIONS = 64
"""Number of dimensions for clustering; with thousands of dimensions, all nodes are far apart."""


def vectors_of(state: State, rows: IntArray) -> NDArray[np.float64]:
    """Return the embeddings of nodes, reduced to `DIMENSIONS` dimensions by a truncated SVD."""
    # Import here, because scikit-learn is slow to import.
    from sklearn.decomposition import TruncatedSVD

    vectors = wide_vectors_of(state, rows)
    reduction = TruncatedSVD(min(DIMENSIONS, *vectors.shape), random_state=0)
    reduced: NDArray[np.float64] = reduction.fit_transform(vectors)
    return reduced


def wide_vectors_of(state: State, rows: IntArray) -> Matrix:
    """Return the embeddings of nodes, or neighbour vectors if the graph has no features."""
    vectors = state.model.embed(state.graph, state.graph.keys_of(rows))
    return vectors if vectors.shape[1] else _neighbour_vectors(state.graph, rows)


def _neighbour_vectors(graph: Graph, rows: IntArray) -> Matrix:
    """Return a unit vector for each node, with an entry for each neighbour and the node itself.

    The vectors do not depend on class scores, so a map does not change when classes are added.
    """
    counts, neighbours = graph.neighbours(rows)
    own = np.arange(rows.size)
    places = np.concatenate((np.repeat(own, counts), own))
    columns = np.concatenate((neighbours, rows))
    ones = np.ones(columns.size, dtype=np.float32)
    # The constructor of the sparse matrix sums duplicate entries.
    shape = (rows.size, graph.num_nodes)
    return normalise_rows(csr_array((ones, (places, columns)), shape=shape))


NEEDED_CAPABILITIES = {Capability.EMBED, Capability.CALIBRATED}
"""Capabilities that a method needs for suggestions of new classes."""

UNKNOWN = 0.5
"""Threshold: a node is treated as unknown if its probability of any known class is smaller."""

MOST_UNKNOWN, MOST_KNOWN = 4_000, 1_000
"""Maximum number of nodes that are clustered: of unknown classes, and of known classes."""

FEWEST = 15
"""Minimum number of nodes in a suggested group."""

WORDS, EXAMPLES = 5, 3
"""Number of top terms and number of example nodes that describe a suggested group."""


def new_classes(state: State, count: int) -> list[NewClass]:
    """Return groups of nodes that may be a new class, the largest first.

    Groups are clusters of the model's embeddings (HDBSCAN: Campello, Moulavi and Sander 2013) in
    which most nodes have a low probability of any known class. Scattered nodes are in no group. A
    real class may form several groups. A method without calibrated confidence finds no groups.

    Args:
        count: Maximum number of groups to return.
    """
    validate_value("count", count, PositiveInt)
    if not state.model.capabilities() >= NEEDED_CAPABILITIES:
        return []
    graph = state.graph
    rows = graph.sampled(SAMPLE, graph.rows_of(list(state.labels.owners())))
    is_unknown = state.predict(rows).known < UNKNOWN
    unknown = _sample(graph, rows[is_unknown], MOST_UNKNOWN)
    if unknown.size < FEWEST:
        return []
    nodes = np.concatenate((unknown, _sample(graph, rows[~is_unknown], MOST_KNOWN)))
    vectors = vectors_of(state, nodes)
    groups = _clusters(vectors, unknown.size)
    return [
        NewClass(
            len(group),
            top_terms(graph, nodes[group], graph.sampled(SAMPLE, nodes[group]), WORDS),
            tuple(graph.keys_of(nodes[group[_nearest(vectors[group])]])),
        )
        for group in sorted(groups, key=len, reverse=True)[:count]
    ]


def _sample(graph: Graph, rows: IntArray, count: int) -> IntArray:
    return graph.view(rows).sampled(count, rows[:0])


def _clusters(vectors: NDArray[np.float64], unknown: int) -> list[IntArray]:
    """Cluster vectors; return the unknown nodes of each cluster in which they are the majority.

    A cluster is omitted unless its vectors are more similar to each other than all vectors are.

    Args:
        vectors: Embeddings; the first rows are those of unknown nodes.
    """
    # Import here, because scikit-learn is slow to import.
    from sklearn.cluster import HDBSCAN

    clusters = HDBSCAN(min_cluster_size=FEWEST, copy=True)
    cluster_of = clusters.fit_predict(normalise_rows(vectors))
    groups = [np.flatnonzero(cluster_of == group) for group in range(cluster_of.max() + 1)]
    return [
        group[group < unknown]
        for group in groups
        if (group < unknown).mean() > 1 / 2 and _similarity(vectors[group]) > _similarity(vectors)
    ]


def _similarity(vectors: NDArray[np.float64]) -> float:
    """Return the similarity of vectors to each other: the length of their mean vector."""
    return float(np.linalg.norm(vectors.mean(axis=0)))


def _nearest(vectors: NDArray[np.float64]) -> IntArray:
    """Return the indices of the vectors nearest to the mean vector."""
    distances = np.linalg.norm(vectors - vectors.mean(axis=0), axis=1)
    return np.argsort(distances, kind="stable")[:EXAMPLES]


def top_terms(graph: Graph, rows: IntArray, others: IntArray, count: int) -> tuple[str, ...]:
    """Return the words that best distinguish the texts of nodes from others, the best first.

    Args:
        graph: Graph of the nodes; without text features, no words are returned.
        others: Row numbers of the nodes to compare with.
        count: Maximum number of words.
    """
    words = graph.recipe.words if isinstance(graph.recipe, FeatureRecipe) else []
    if not words:
        return ()
    own, their = (
        np.bincount(csr_array(graph.features(some)).indices, minlength=graph.num_features)
        for some in (rows, others)
    )
    scores = log_odds(own[: len(words)], their[: len(words)])
    best = np.argsort(-scores, kind="stable")[:count]
    return tuple(words[place] for place in best if scores[place] > 0)


def log_odds(own: IntArray, others: IntArray) -> NDArray[np.float64]:
    r"""Return the log-odds of each word in a group against other nodes, in standard errors.

    .. math:: \frac{\log \frac{y_w + a_w}{n + a - y_w - a_w}
        - \log \frac{y'_w + a_w}{n' + a - y'_w - a_w}}
        {\sqrt{\frac{1}{y_w + a_w} + \frac{1}{y'_w + a_w}}}

    Here :math:`y_w` of the :math:`n` words in the group are :math:`w`, and :math:`y'_w` of the
    :math:`n'` words elsewhere. The prior :math:`a` has as many words as the group and the word
    frequencies of both together, so that a rare word must occur several times to count (Monroe,
    Colaresi and Quinn 2008, "Fightin' Words").

    >>> log_odds(np.array([8, 1, 9]), np.array([2, 0, 80])).round(1).tolist()
    [3.7, 1.2, -10.5]
    """
    total, both = max(own.sum(), 1), own + others
    prior = total * (both + 1e-9) / max(both.sum(), 1)
    here, there = own + prior, others + prior
    gap = np.log(here / (here.sum() - here + 1e-9)) - np.log(there / (there.sum() - there + 1e-9))
    scores: NDArray[np.float64] = gap / np.sqrt(1.0 / here + 1.0 / there)
    return scores
