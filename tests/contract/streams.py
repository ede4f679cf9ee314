"""Small streams for the contract, and the damage that must not be noticed."""

from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.datasets.synthetic import Synthetic
from nodegraft.graph.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import Labelled
from nodegraft.graph.split import ClassSplit, Setting
from nodegraft.graph.stream import Arrival, ClassStream
from nodegraft.methods.base import REGISTRY, Method

SETTING = Setting(base=3, pseudo_novel=2, validation=2, novel=6, ways=2, shots=3)


def quick(name: str, **parameters: Any) -> Method:
    """A method with its training cut short: the contract is about rules, not accuracy."""
    cls = REGISTRY.get(name)
    limits = {
        "max_epochs": 10,
        "steps": 20,
        "episodes": 3,
        "ways": 2,
        "adapt_steps": 2,
        "features": 64,
    }
    known = {field.name for field in fields(cls)}
    return cls(**{name: limits[name] for name in limits if name in known} | parameters)


def small_stream(
    sparse: bool = True, seed: int = 0, arrival: Arrival = "with-class"
) -> ClassStream:
    """13 classes, 400 nodes, four sessions."""
    loaded = Synthetic(nodes=400, classes=13, sparse=sparse, features=40).load()
    split = ClassSplit.draw(loaded.labels, SETTING, seed)
    return ClassStream(loaded.graph, split, arrival=arrival)


def with_future_scrambled(stream: ClassStream, met: int) -> ClassStream:
    """The same stream up to session ``met``; beyond it features, edges and labels are noise."""
    split, noise = stream.split, np.random.default_rng(1)
    later = split.novel[met * split.setting.ways :]
    rows = split.members.only(later).rows()
    graph = _scrambled_graph(stream._graph, rows, noise)
    sizes = np.cumsum([split.members[name].size for name in later])[:-1]
    dealt = np.split(noise.permutation(rows), sizes)
    shuffled = dict(zip(later, dealt, strict=True))
    labels = Labelled({name: shuffled.get(name, split.members[name]) for name in split.members})
    return ClassStream(graph, ClassSplit.draw(labels, split.setting, split.seed))


def _scrambled_graph(graph: Graph, rows: NDArray[np.int64], noise: np.random.Generator) -> Graph:
    everyone = np.arange(graph.num_nodes)
    features = graph.features(everyone)
    dense = features.toarray() if isinstance(features, csr_array) else features.copy()
    dense[rows] = noise.random((rows.size, graph.num_features)) * (noise.random() + 1)
    hidden = np.isin(everyone, rows)
    source, target = graph.edges()
    kept = ~(hidden[source] | hidden[target])
    ends = noise.choice(rows, 500), noise.integers(graph.num_nodes, size=500)
    adjacency = Adjacency.from_edges(
        np.concatenate((source[kept], ends[0])),
        np.concatenate((target[kept], ends[1])),
        graph.num_nodes,
    )
    stored = csr_array(dense) if isinstance(features, csr_array) else dense
    return Graph.from_parts(NodeKeys(everyone), stored, adjacency)


def with_query_labels_scrambled(stream: ClassStream) -> ClassStream:
    """Every query node keeps its session and gets the name of another class of it."""
    split, noise = stream.split, np.random.default_rng(2)
    query: dict[str, NDArray[np.int64]] = {}
    for index in range(1, len(stream)):
        query |= _dealt_anew(split.query.only(stream.arriving(index)), noise)
    query |= {name: split.query[name] for name in split.validation}
    scrambled = replace(split, test=Labelled(_dealt_anew(split.test, noise)), query=Labelled(query))
    return ClassStream(stream._graph, scrambled, arrival=stream.arrival)


def _dealt_anew(labels: Labelled, noise: np.random.Generator) -> dict[str, NDArray[np.int64]]:
    sizes = np.cumsum([rows.size for rows in labels.values()])[:-1]
    dealt = np.split(noise.permutation(labels.rows()), sizes)
    return dict(zip(labels, dealt, strict=True))
