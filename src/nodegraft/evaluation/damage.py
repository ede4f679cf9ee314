"""Streams with damage that an honest method does not notice."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
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
    unseen = stream._entry > met
    unseen[split.members.select(split.validation).rows()] = False  # rehearsals do see them
    graph = _scrambled_graph(stream._graph, np.flatnonzero(unseen), noise)
    shuffled = _dealt_anew(split.members.select(later), noise, np.zeros_like(stream._entry))
    labels = NodeLabels({name: shuffled.get(name, split.members[name]) for name in split.members})
    return ClassStream(
        graph, ClassSplit.draw(labels, split.setting, split.seed), arrival=stream.arrival
    )


def with_query_labels_scrambled(stream: ClassStream) -> ClassStream:
    """Query nodes that come into sight together, of classes of one session, swap their labels.

    Args:
        stream: The stream.
    """
    split, noise = stream.split, np.random.default_rng(2)
    query: dict[str, NDArray[np.int64]] = {}
    for index in range(1, len(stream)):
        query |= _dealt_anew(split.query.select(split.arriving(index)), noise, stream._entry)
    query |= {name: split.query[name] for name in split.validation}
    test = NodeLabels(_dealt_anew(split.test, noise, stream._entry))
    scrambled = replace(split, test=test, query=NodeLabels(query))
    return ClassStream(stream._graph, scrambled, arrival=stream.arrival, entry=stream._entry)


def _scrambled_graph(graph: Graph, rows: NDArray[np.int64], noise: np.random.Generator) -> Graph:
    features = graph.features(graph.rows)
    dense = features.toarray() if isinstance(features, csr_array) else features.copy()
    dense[rows] = noise.random((rows.size, graph.num_features)) * (noise.random() + 1)
    hidden = np.isin(graph.rows, rows)
    bare = graph.keeping_edges(lambda source, target: ~(hidden[source] | hidden[target]))
    count = 500 if rows.size else 0
    ends = np.stack((noise.choice(rows, count), noise.integers(graph.num_nodes, size=count)), 1)
    keys = graph.key_array_of(graph.rows)
    pairs = np.array_split(keys[ends], len(graph.relations))
    joined = bare.grow(edges=dict(zip(graph.relations, pairs, strict=True)))
    stored = csr_array(dense) if isinstance(features, csr_array) else dense
    return joined.with_features(stored)


def _dealt_anew(
    labels: NodeLabels, noise: np.random.Generator, entry: IntArray
) -> dict[str, NDArray[np.int64]]:
    rows = labels.rows()
    for session in np.unique(entry[rows]):
        together = entry[rows] == session
        rows[together] = noise.permutation(rows[together])
    sizes = np.cumsum([members.size for members in labels.values()])[:-1]
    return dict(zip(labels, np.split(rows, sizes), strict=True))
