"""Statistics of a graph: sizes, degrees, homophily, and rarity of feature columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray, located
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.node_types import SEPARATOR
from nodegraft.graph.view import GraphView


class Homophily(NamedTuple):
    """How often an edge between labelled nodes joins two nodes of the same class."""

    pairs: int
    """Number of edges between two labelled nodes."""

    same: float
    """Fraction of these edges that join two nodes of the same class."""

    adjusted: float
    """Same, adjusted for chance: 0 if edges do not depend on classes (Platonov et al. 2023)."""

    mean_weight: float = 1.0
    """Mean weight of edges between two labelled nodes; without any, of all edges."""


def homophily(classes: IntArray) -> Homophily:
    r"""Compute homophily from the classes of the two nodes of each edge.

    The adjusted homophily is :math:`h = (s - \sum_c p_c^2) / (1 - \sum_c p_c^2)`. Here, :math:`s`
    is the fraction of edges that join two nodes of the same class, and :math:`p_c` is the fraction
    of class :math:`c` among the nodes of all edges.

    >>> homophily(np.array([[0, 0, 1, 1], [0, 1, 1, 0]])).adjusted
    0.0

    Args:
        classes: Class numbers of the two nodes of each edge, as an array of shape 2 x edges.
    """
    if not classes.size:
        return Homophily(0, 0.0, 0.0)
    same = float((classes[0] == classes[1]).mean())
    return _adjusted(classes.shape[1], same, np.bincount(classes.ravel()) / classes.size)


def _adjusted(pairs: int, same: float, shares: NDArray[np.float64]) -> Homophily:
    chance = float((shares**2).sum())
    return Homophily(pairs, same, (same - chance) / (1 - chance) if chance < 1 else 0.0)


def homophily_of_members(members: IntArray, classes: IntArray) -> Homophily:
    """Compute how often two labelled nodes that are linked to the same node have the same class.

    A node with :math:`k` labelled members counts like :math:`k - 1` edges: a tree that joins them.

    >>> found = homophily_of_members(np.array([7, 7, 8, 8, 8]), np.array([0, 0, 1, 1, 0]))
    >>> found.pairs, round(found.same, 3)
    (3, 0.556)

    Args:
        members: For each labelled node, the row of the node that it is linked to.
    """
    _, groups = np.unique(members, return_inverse=True)
    ones = np.ones(groups.size)
    counts = csr_array((ones, (groups, classes)))
    sizes = np.bincount(groups)
    joined = sizes > 1
    counts, sizes = counts[joined], sizes[joined]
    if not sizes.size:
        return Homophily(0, 0.0, 0.0)
    alike = (counts.power(2) - counts).sum(axis=1) / (sizes * (sizes - 1))
    edges = sizes - 1
    shares = counts.T @ (edges / sizes) / edges.sum()
    return _adjusted(int(edges.sum()), float((alike * edges).sum() / edges.sum()), shares)


def homophily_of_kinds(view: GraphView, labels: NodeLabels) -> dict[str, Homophily]:
    """Return the homophily of each edge type, computed from edges between labelled nodes.

    Edges to nodes of another type have one labelled end at most; their homophily is that of two
    labelled nodes with the same neighbour.
    """
    rows = labels.rows()
    order = np.argsort(rows)
    sorted_rows, classes = rows[order], labels.targets(labels.classes)[order]

    def class_of(nodes: IntArray) -> IntArray:
        if not rows.size:
            return np.full(nodes.size, -1)
        place, is_labelled = located(sorted_rows, nodes)
        return np.where(is_labelled, classes[place], -1)

    by_type = {}
    for name in view.relations:
        source, target, weights = view.edges_of(name)
        ends = np.stack((class_of(source), class_of(target)))
        labelled = (ends >= 0).all(axis=0)
        of_kind = homophily(ends[:, labelled])
        if joins_types(view, name):
            labelled = (ends >= 0).any(axis=0)
            is_first = ends[0, labelled] >= 0
            others = np.where(is_first, target[labelled], source[labelled])
            of_kind = homophily_of_members(others, ends[:, labelled].max(axis=0))
        if weights is not None and weights.size:
            some = weights[labelled] if of_kind.pairs else weights
            of_kind = of_kind._replace(mean_weight=float(some.mean(dtype=np.float64)))
        by_type[name] = of_kind
    return by_type


def joins_types(view: GraphView, relation: str) -> bool:
    """Return whether edges of a type join classified nodes with nodes of another type.

    Args:
        relation: Edge type, such as ``user:bought:product``.
    """
    ends = relation.split(SEPARATOR)
    if not view.has_several_types or len(ends) != 3:
        return False
    classified = view.node_types[0]
    return (ends[0] == classified) != (ends[2] == classified)


def relation_weights(kinds: Mapping[str, Homophily]) -> tuple[dict[str, float], float]:
    r"""Return the weight of each edge type, and the weight for types that are added later.

    .. math:: w_r \propto \frac{\hat h_r}{1 - \hat h_r}, \quad
        \hat h_r = \frac{n_r h_r + 10 \bar h}{n_r + 10}

    :math:`h_r` is the adjusted homophily of type :math:`r`, :math:`n_r` its number of edges between
    labelled nodes, and :math:`\bar h` the mean over all these edges; :math:`\hat h_r` is clipped to
    0 to 0.95. Weights are scaled so that these edges have a mean weight of 1, like a node's self
    loop, and are at most 10. All types have equal weights if no type has edges between labelled
    nodes, or if no type is homophilous. The edge weights of each type are divided by their mean, so
    that their unit does not matter. A new type gets the weight for :math:`\bar h`; its edge weights
    are not divided by their mean.

    >>> kinds = {"is-a": Homophily(90, 0.9, 0.8), "next-to": Homophily(90, 0.3, 0.0)}
    >>> weights, unseen = relation_weights(kinds)
    >>> {name: round(weight, 2) for name, weight in weights.items()}, round(unseen, 2)
    ({'is-a': 1.97, 'next-to': 0.03}, 0.42)
    """
    if len(kinds) == 1:
        [(name, only)] = kinds.items()
        return {name: 1.0 / only.mean_weight}, 1.0
    counts = np.array([kind.pairs for kind in kinds.values()], dtype=np.float64)
    adjusted = np.array([kind.adjusted for kind in kinds.values()])
    heavy = np.array([kind.mean_weight for kind in kinds.values()])
    total = counts.sum()
    mean = float(np.clip((counts * adjusted).sum() / total, 0.0, MOST)) if total else 0.0
    shrunk = np.clip((counts * adjusted + PRIOR * mean) / (counts + PRIOR), 0.0, MOST)
    odds, unseen = shrunk / (1.0 - shrunk), mean / (1.0 - mean)
    if not odds.any() or not total:
        odds, unseen = np.ones_like(odds), 1.0
    scale = total / (counts * odds).sum() if total else 1.0
    worth = np.minimum(scale * odds, HEAVIEST) / heavy
    return dict(zip(kinds, worth.tolist(), strict=True)), float(min(scale * unseen, HEAVIEST))


PRIOR = 10.0
"""Weight of the mean homophily in the estimate for an edge type, as a number of edges."""

HEAVIEST = 10.0
"""Maximum weight of an edge type, so that its edges do not outweigh a node's own features."""

MOST = 0.95
"""Upper limit of homophily for edge type weights, which would grow without limit near 1."""


BLOCK_ROWS = 65_536


class ColumnSummary(NamedTuple):
    """Summary of the feature columns over all visible nodes."""

    rarity: NDArray[np.float32]
    """Inverse document frequency (IDF) of each column; see :func:`column_rarity`."""

    are_counts: bool
    """Whether features are sparse and have no negative values."""


def summarise_columns(view: GraphView) -> ColumnSummary:
    """Summarise the feature columns over all visible nodes; rows are read in blocks."""
    if not view.has_sparse_features:
        return ColumnSummary(np.ones(view.num_features, dtype=np.float32), are_counts=False)
    documents, are_counts = np.zeros(view.num_features, dtype=np.int64), True
    num_documents = 0 if view.has_several_types else view.num_nodes
    for start in range(0, view.num_nodes, BLOCK_ROWS):
        counts = csr_array(view.features(view.rows[start : start + BLOCK_ROWS]))
        documents += np.bincount(counts.indices[counts.data != 0], minlength=documents.size)
        are_counts = are_counts and bool((counts.data >= 0).all())
        if view.has_several_types:
            # Nodes of types without features are no documents.
            num_documents += int((np.diff(counts.indptr) > 0).sum())
    rarity: NDArray[np.float64] = np.log((1 + num_documents) / (1 + documents)) + 1
    return ColumnSummary(rarity.astype(np.float32), are_counts)


def column_rarity(view: GraphView) -> NDArray[np.float32]:
    r"""Return the inverse document frequency :math:`\ln \frac{1 + n}{1 + n_j} + 1` of each column.

    :math:`n_j` of the :math:`n` visible nodes have a non-zero entry in column :math:`j`. The result
    is 1 for all columns of dense features.
    """
    return summarise_columns(view).rarity


QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class GraphStatistics:
    """Statistics of a graph: sizes, degrees and homophily."""

    nodes: int
    """Number of nodes."""

    edges: int
    """Number of node pairs with an edge; edges of several types between two nodes count once."""

    features: int
    """Number of feature columns."""

    features_per_node: float
    """Mean number of stored feature values per node."""

    classes: int
    """Number of classes."""

    smallest_class: int
    """Number of nodes of the smallest class."""

    median_class: int
    """Median number of nodes of a class."""

    largest_class: int
    """Number of nodes of the largest class."""

    isolated: int
    """Number of nodes without edges."""

    degree_quantiles: tuple[int, ...]
    """Degrees of nodes at the quantiles :data:`QUANTILES`."""

    homophily: float
    """Fraction of the edges between labelled nodes that join two nodes of the same class."""

    adjusted_homophily: float
    """Homophily adjusted for chance: 0 if edges do not depend on classes (Platonov et al. 2023)."""

    kinds: tuple["KindStatistics", ...]
    """Statistics of each edge type of the graph."""


@dataclass(frozen=True)
class KindStatistics:
    """Statistics of the edges of one edge type."""

    name: str
    """Name of the edge type."""

    edges: int
    """Number of undirected edges of this type."""

    directed: bool
    """Whether edges of this type have a direction."""

    weighted: bool
    """Whether edges of this type have weights."""

    homophily: float
    """Fraction of the edges between labelled nodes that join two nodes of the same class."""

    adjusted_homophily: float
    """Homophily adjusted for chance: 0 if edges do not depend on classes."""


def describe(graph: Graph, labels: NodeLabels) -> GraphStatistics:
    """Compute the statistics of a graph with labels.

    >>> square = Graph(range(4), np.eye(4), [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> numbers = describe(square, NodeLabels({"a": [0, 1], "b": [2, 3]}))
    >>> numbers.homophily, numbers.adjusted_homophily
    (0.5, 0.0)
    """
    everyone = np.arange(graph.num_nodes)
    degrees = graph.degrees(everyone)
    (every,) = homophily_of_kinds(graph.merging_kinds(), labels).values()
    sizes = sorted(rows.size for rows in labels.values()) or [0]
    return GraphStatistics(
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        features=graph.num_features,
        features_per_node=graph.num_stored_features / max(graph.num_nodes, 1),
        classes=len(labels),
        smallest_class=sizes[0],
        median_class=int(np.median(sizes)),
        largest_class=sizes[-1],
        isolated=int((degrees == 0).sum()),
        degree_quantiles=tuple(np.quantile(degrees, QUANTILES, method="nearest").tolist()),
        homophily=every.same,
        adjusted_homophily=every.adjusted,
        kinds=tuple(
            _kind(graph, name, pairs) for name, pairs in homophily_of_kinds(graph, labels).items()
        ),
    )


def _kind(graph: Graph, name: str, homophily: Homophily) -> KindStatistics:
    source, _, weights = graph.edges_of(name)
    directed, weighted = graph.is_directed(name), weights is not None
    return KindStatistics(name, source.size, directed, weighted, homophily.same, homophily.adjusted)
