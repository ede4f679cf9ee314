"""Leak checks for authors of methods: a method must not use hidden labels or later classes.

The tests of this package run the checks on all its methods, and on methods with deliberate leaks,
which the checks must detect. Checks of other rules are in :mod:`nodegraft.model.checks`.
"""

import gc
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.events import SILENT
from nodegraft.evaluation.protocol import evaluate, teach
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.contract.case import expect, expect_close
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.arrival import ARRIVALS, Arrival
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

# References of these types are not followed, because they lead to every object of the process.
_EVERYWHERE = (type, types.ModuleType, types.BuiltinFunctionType)


def labelled_rows_within_reach(*roots: Any) -> NDArray[np.int64]:
    """Return the rows of all :class:`~nodegraft.graph.labels.NodeLabels` reachable from objects.

    The search follows attributes, items, closures, bound methods and suspended generators, but not
    the contents of modules.

    Args:
        roots: Objects that a method receives.
    """
    visited: dict[int, Any] = {}
    rows: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)]
    waiting: list[Any] = list(roots)
    while waiting:
        value = waiting.pop()
        if id(value) in visited or isinstance(value, _EVERYWHERE):
            continue
        visited[id(value)] = value
        if isinstance(value, NodeLabels):
            rows.append(value.rows())
        waiting.extend(_references(value))
    return np.unique(np.concatenate(rows))


def _references(value: Any) -> list[Any]:
    if isinstance(value, types.FunctionType):
        # Do not follow the globals of a function, because they are the contents of its module.
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        return [*cells, value.__defaults__, value.__kwdefaults__]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return []
    items = list(value.values()) if isinstance(value, Mapping) else []
    return [*gc.get_referents(value), *items]


Make = Callable[[], Method]
Scores = NDArray[np.float64]

SETTING = Setting(base=3, pseudo_novel=2, validation=2, novel=6, ways=2, shots=3)


def small_stream(
    sparse: bool = True, seed: int = 0, arrival: Arrival = "growing", nodes: int = 400
) -> ClassStream:
    """Return a random stream with 13 classes and four sessions."""
    graph, labels = BlockModel(nodes=nodes, classes=13, sparse=sparse, features=40).draw()
    return ClassStream.draw(graph, labels, SETTING, seed=seed, arrival=arrival)


def check_no_leaks(method: str | Make, nodes: int = 400) -> list[str]:
    """Run all leak checks on a method; raise an error that describes the first leak found.

    Args:
        method: Name of the method, or a class or function that returns a method.
        nodes: Number of nodes of the graph. A method may behave differently on a large graph.

    Returns:
        Descriptions of the checks.
    """
    make: Make = REGISTRY.get(method) if isinstance(method, str) else method
    for sparse in (True, False):
        stream = small_stream(sparse, nodes=nodes)
        for last in range(len(stream) - 1):
            check_independent_of_unseen_classes(make, stream, last)
        check_independent_of_other_queries(make, stream)
    for arrival in ARRIVALS:
        stream = small_stream(arrival=arrival, nodes=nodes)
        check_independent_of_query_labels(make, stream)
        check_independent_of_unseen_classes(make, stream, 1)
    return [
        "independent of unseen classes",
        "independent of query labels",
        "independent of other queries",
    ]


def scores_in_evaluation(method: Method, stream: ClassStream) -> list[Scores]:
    """Train a method on a stream and return its scores of all visible nodes in each session."""
    scores: list[Scores] = []
    for session in stream:
        teach(method, session, stream, SILENT)
        scores.append(method.score_rows(session.view, session.view.rows))
    return scores


def check_independent_of_unseen_classes(make: Make, stream: ClassStream, last: int) -> None:
    """Check that scrambling later classes changes no bit of any score before they arrive.

    Args:
        last: Last session that is not scrambled.
    """
    honest = scores_in_evaluation(make(), stream)
    damaged = scores_in_evaluation(make(), with_future_scrambled(stream, last))
    for index in range(last + 1):
        same = np.array_equal(honest[index], damaged[index])
        expect(same, f"session {index} saw the future")
    changed = [not np.array_equal(a, b) for a, b in zip(honest, damaged, strict=True)]
    expect(any(changed), "the damage was not visible even when the classes arrived")


def check_independent_of_query_labels(make: Make, stream: ClassStream) -> None:
    """Check that scrambling all query labels changes no bit of any score."""
    honest = scores_in_evaluation(make(), stream)
    damaged = scores_in_evaluation(make(), with_query_labels_scrambled(stream))
    for index, (expected, actual) in enumerate(zip(honest, damaged, strict=True)):
        expect(np.array_equal(expected, actual), f"session {index} saw query labels")


def check_independent_of_other_queries(make: Make, stream: ClassStream) -> None:
    """Check that a node's scores do not depend on the batch, with a tolerance of 1e-6."""
    method = make()
    evaluate(method, stream)
    last = stream.session(len(stream) - 1)
    rows = np.sort(last.query.rows())
    together = method.score_rows(last.view, rows)
    order = np.random.default_rng(3).permutation(rows.size)
    shuffled = method.score_rows(last.view, rows[order])
    expect_close(shuffled, together[order], 1e-6, "scores depend on the order of nodes")
    for place in order[:10]:
        alone = method.score_rows(last.view, rows[[place]])
        tolerance = 1e-6 * (1.0 + float(np.abs(together[place]).max()))
        expect_close(alone[0], together[place], tolerance, "scores depend on the batch of a node")


def with_future_scrambled(stream: ClassStream, last: int) -> ClassStream:
    """Return a stream whose features, edges and labels after session `last` are noise.

    Nodes that are visible in session `last` keep their features and edges, even if their class
    arrives later; only their labels change.
    """
    split, noise = stream.split, np.random.default_rng(1)
    later = split.novel[last * split.setting.ways :]
    unseen_or_validation = stream._entry > last
    unseen = unseen_or_validation.copy()
    unseen[split.members.select(split.validation).rows()] = False  # Rehearsals use these nodes.
    graph = _scrambled_graph(stream._graph, np.flatnonzero(unseen), noise)
    shuffled = _shuffled(split.members.select(later), noise, np.zeros_like(stream._entry))
    labels = NodeLabels({name: shuffled.get(name, split.members[name]) for name in split.members})
    damaged = ClassSplit.draw(labels, split.setting, split.seed)
    entries = ClassStream(graph, damaged, arrival=stream.arrival)._entry
    entry = np.where(unseen_or_validation, np.maximum(entries, last + 1), stream._entry)
    return ClassStream(graph, damaged, arrival=stream.arrival, entry=entry)


def with_query_labels_scrambled(stream: ClassStream) -> ClassStream:
    """Return a stream in which query nodes that become visible together have permuted labels."""
    split, noise = stream.split, np.random.default_rng(2)
    query: dict[str, NDArray[np.int64]] = {}
    for index in range(1, len(stream)):
        query |= _shuffled(split.query.select(split.arriving(index)), noise, stream._entry)
    query |= {name: split.query[name] for name in split.validation}
    test = NodeLabels(_shuffled(split.test, noise, stream._entry))
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
    graph_with_edges = bare.grow(edges=dict(zip(graph.relations, pairs, strict=True)))
    stored = csr_array(dense) if isinstance(features, csr_array) else dense
    return graph_with_edges.with_features(stored)


def _shuffled(
    labels: NodeLabels, noise: np.random.Generator, entry: IntArray
) -> dict[str, NDArray[np.int64]]:
    """Return classes with permuted nodes; a node can only replace a node of the same session."""
    rows = labels.rows()
    for session in np.unique(entry[rows]):
        together = entry[rows] == session
        rows[together] = noise.permutation(rows[together])
    sizes = np.cumsum([members.size for members in labels.values()])[:-1]
    return dict(zip(labels, np.split(rows, sizes), strict=True))
