"""Numbers that the READMEs of the held-out graphs state, beside those of ``describe``."""

from collections.abc import Iterable

import numpy as np

from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import describe
from nodegraft.lab.datasets.templates.dataset import LoadedDataset
from nodegraft.lab.datasets.templates.readers import TypedEdge, adjacency_between

Row = tuple[int, float, float, int]


def relation_table(loaded: LoadedDataset, edges: Iterable[TypedEdge]) -> dict[str, Row]:
    """Kind -> undirected edges, share within a class, the same adjusted, nodes touched."""
    ends: dict[str, list[tuple[int, int]]] = {}
    for source, target, kind, _ in edges:
        ends.setdefault(kind, []).append((source, target))
    keys = NodeKeys(loaded.graph.keys_of(np.arange(loaded.graph.num_nodes)))
    table = {}
    for kind, pairs in ends.items():
        adjacency = adjacency_between(keys, np.array(pairs))
        found = describe(Graph.from_parts(keys, np.zeros((len(keys), 1)), adjacency), loaded.labels)
        shares = round(found.homophily, 3), round(found.adjusted_homophily, 3)
        table[kind] = (found.edges, *shares, found.nodes - found.isolated)
    return table


def class_quartiles(labels: NodeLabels) -> list[int]:
    """Sizes of classes at 25, 50 and 75 %, as those READMEs count: the one at or below."""
    sizes = [rows.size for rows in labels.values()]
    quartiles: list[int] = np.quantile(sizes, [0.25, 0.5, 0.75], method="lower").tolist()
    return quartiles
