"""A graph and its classes in a few numbers."""

from dataclasses import dataclass

import numpy as np

from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics.homophily import Homophily, homophily_of_kinds

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class GraphStatistics:
    """Sizes, degrees, and how far edges join nodes of one class."""

    nodes: int
    """How many nodes."""

    edges: int
    """How many undirected edges."""

    features: int
    """How many columns a feature row has."""

    features_per_node: float
    """How many feature values are stored for a node, on average."""

    classes: int
    """How many classes."""

    smallest_class: int
    """How many nodes the smallest class has."""

    median_class: int
    """The median of their sizes."""

    largest_class: int
    """How many nodes the largest class has."""

    isolated: int
    """How many nodes have no edge."""

    degree_quantiles: tuple[int, ...]
    """Degrees at :data:`QUANTILES`."""

    homophily: float
    """The share of edges between labelled nodes that join two of one class."""

    adjusted_homophily: float
    """The same, adjusted for chance: 0 where edges ignore classes (Platonov et al. 2023)."""

    kinds: tuple["KindStatistics", ...]
    """The same for every kind of edges."""


@dataclass(frozen=True)
class KindStatistics:
    """The edges of one kind."""

    name: str
    """What the kind is called."""

    edges: int
    """How many undirected edges."""

    directed: bool
    """Whether they have a direction."""

    weighted: bool
    """Whether they have weights."""

    homophily: float
    """The share of those between labelled nodes that join two of one class."""

    adjusted_homophily: float
    """The same, adjusted for chance."""


def describe(graph: Graph, labels: NodeLabels) -> GraphStatistics:
    """Count.

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


def _kind(graph: Graph, name: str, found: Homophily) -> KindStatistics:
    source, _, weights = graph.edges_of(name)
    directed, weighted = graph.is_directed(name), weights is not None
    return KindStatistics(name, source.size, directed, weighted, found.same, found.adjusted)
