"""Streams with damage that an honest method does not notice."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream


def with_future_scrambled(stream: ClassStream, met: int) -> ClassStream:
    """The same stream up to a session; beyond it features, edges and labels are noise.

    Args:
        stream: The stream.
        met: The last session that stays as it is.
    """
    split, noise = stream.split, np.random.default_rng(1)
    later = split.novel[met * split.setting.ways :]
    rows = split.members.select(later).rows()
    graph = _scrambled_graph(stream._graph, rows, noise)
    sizes = np.cumsum([split.members[name].size for name in later])[:-1]
    dealt = np.split(noise.permutation(rows), sizes)
    shuffled = dict(zip(later, dealt, strict=True))
    labels = NodeLabels({name: shuffled.get(name, split.members[name]) for name in split.members})
    return ClassStream(graph, ClassSplit.draw(labels, split.setting, split.seed))


def with_query_labels_scrambled(stream: ClassStream) -> ClassStream:
    """Every query node keeps its session and gets the name of another class of it.

    Args:
        stream: The stream.
    """
    split, noise = stream.split, np.random.default_rng(2)
    query: dict[str, NDArray[np.int64]] = {}
    for index in range(1, len(stream)):
        query |= _dealt_anew(split.query.select(stream.arriving(index)), noise)
    query |= {name: split.query[name] for name in split.validation}
    test = NodeLabels(_dealt_anew(split.test, noise))
    scrambled = replace(split, test=test, query=NodeLabels(query))
    return ClassStream(stream._graph, scrambled, arrival=stream.arrival)


def _scrambled_graph(graph: Graph, rows: NDArray[np.int64], noise: np.random.Generator) -> Graph:
    features = graph.features(graph.rows)
    dense = features.toarray() if isinstance(features, csr_array) else features.copy()
    dense[rows] = noise.random((rows.size, graph.num_features)) * (noise.random() + 1)
    hidden = np.isin(graph.rows, rows)
    source, target = graph.edges()
    kept = ~(hidden[source] | hidden[target])
    ends = noise.choice(rows, 500), noise.integers(graph.num_nodes, size=500)
    adjacency = Adjacency.from_edges(
        np.concatenate((source[kept], ends[0])),
        np.concatenate((target[kept], ends[1])),
        graph.num_nodes,
    )
    stored = csr_array(dense) if isinstance(features, csr_array) else dense
    return Graph.from_parts(NodeKeys(graph.key_array_of(graph.rows)), stored, adjacency)


def _dealt_anew(labels: NodeLabels, noise: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    sizes = np.cumsum([rows.size for rows in labels.values()])[:-1]
    dealt = np.split(noise.permutation(labels.rows()), sizes)
    return dict(zip(labels, dealt, strict=True))
