"""A graph and its classes in a few numbers."""

from dataclasses import dataclass

import numpy as np

from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels

QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class GraphStatistics:
    """``homophily`` is the share of edges between labelled nodes that join one class;

    ``adjusted_homophily`` is 0 where edges ignore classes (Platonov et al. 2023).
    """

    nodes: int
    edges: int
    features: int
    features_per_node: float
    classes: int
    smallest_class: int
    median_class: int
    largest_class: int
    isolated: int
    degree_quantiles: tuple[int, ...]
    homophily: float
    adjusted_homophily: float


def describe(graph: Graph, labels: NodeLabels) -> GraphStatistics:
    """Count.

    >>> square = Graph(range(4), np.eye(4), [(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> numbers = describe(square, NodeLabels({"a": [0, 1], "b": [2, 3]}))
    >>> numbers.homophily, numbers.adjusted_homophily
    (0.5, 0.0)
    """
    everyone = np.arange(graph.num_nodes)
    degrees = graph.degrees(everyone)
    column = np.full(graph.num_nodes, -1)
    column[labels.rows()] = labels.targets(labels.classes)
    source, target = graph.edges()
    ends = np.stack((column[source], column[target]))
    ends = ends[:, (ends >= 0).all(axis=0)]
    same = float((ends[0] == ends[1]).mean()) if ends.size else 0.0
    shares = np.bincount(ends.ravel(), minlength=len(labels)) / max(ends.size, 1)
    chance = float((shares**2).sum())
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
        homophily=same,
        adjusted_homophily=(same - chance) / (1 - chance) if chance < 1 else 0.0,
    )
