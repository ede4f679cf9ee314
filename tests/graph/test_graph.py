import gc
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import coo_array, csr_array
from torch_geometric.data import Data

from nodegraft.base.errors import DataError, ParameterError, UnknownNodeError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from tests.graph.reference import (
    dense,
    everyone,
    joined_in,
    random_graph,
    random_kinds,
    typed_graph,
    weights_in,
)

X = np.arange(6, dtype=np.float32).reshape(3, 2)
PATH = [("a", "b"), ("b", "c")]


def small(features: Matrix = X) -> Graph:
    return Graph(["a", "b", "c"], features, PATH)


def test_a_graph_answers_in_rows_and_keys() -> None:
    graph = small()
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (3, 2, 2)
    counts, neighbours = graph.neighbours([1, 0])
    assert counts.tolist() == graph.degrees([1, 0]).tolist() == [2, 1]
    assert graph.keys_of(neighbours) == ["a", "c", "b"]
    assert graph.rows_of(["c", "a"]).tolist() == [2, 0]


def test_integers_are_keys_as_well() -> None:
    graph = Graph([10, 30, 20], X, [(30, 10)])
    assert graph.keys_of(graph.neighbours(graph.rows_of([30]))[1]) == [10]


@pytest.mark.parametrize(
    ("keys", "features", "edges", "message"),
    [
        (["a", "a"], np.eye(2), [], "more than once: 'a'"),
        (["a", "b"], np.eye(3), [], "2 keys, 3 feature rows and 2 nodes"),
        (["a"], np.array([[np.nan]]), [], "NaN or infinite"),
        (["a"], np.array([[-np.inf]], dtype=np.float16), [], "NaN or infinite"),
        (["a"], csr_array(np.array([[np.nan]])), [], "NaN or infinite"),
        (["a"], np.array([[1e39]]), [], "NaN or infinite"),
        (["a"], np.ones(1), [], r"one row per node and columns: shape \(1,\)"),
        (["a"], np.eye(1), [("a", "b")], "1 of 2 nodes is not in this graph: 'b'"),
    ],
)
def test_what_makes_no_graph_is_refused(
    keys: list[str], features: Matrix, edges: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises((DataError, UnknownNodeError), match=message):
        Graph(keys, features, edges)


def test_rows_that_do_not_exist_are_refused() -> None:
    for rows in ([3], [-1]):
        for ask in (small().features, small().neighbours, small().degrees):
            with pytest.raises(UnknownNodeError):
                ask(rows)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int64])
def test_half_precision_is_stored_as_such_and_served_in_single(kind: type[np.number[Any]]) -> None:
    graph = small(X.astype(kind))
    assert graph._features.dtype == (np.float16 if kind is np.float16 else np.float32)
    assert graph.features([2, 0]).dtype == np.float32
    assert dense(graph.features([2, 0])).tolist() == X[[2, 0]].tolist()


def test_sparse_features_stay_sparse_and_are_put_in_order() -> None:
    # Row 0 lists column 1 twice and before column 0.
    parts = (np.array([1.0, 2.0, 5.0], dtype=np.float32), [1, 1, 0], [0, 3, 3, 3])
    given = csr_array(parts, shape=(3, 2))
    graph = small(given)
    rows = graph.features([0, 1])
    assert isinstance(rows, csr_array)
    assert rows.indices.tolist() == [0, 1]
    assert dense(rows).tolist() == [[5.0, 3.0], [0.0, 0.0]]
    assert graph.num_stored_features == 2
    assert given.indices.tolist() == [1, 1, 0]
    assert given.data.tolist() == [1.0, 2.0, 5.0]


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("layout", ["dense", "coo", "csr"])
def test_pyg_in_and_out(directed: bool, layout: str) -> None:
    edge_index = torch.tensor([[0, 1], [1, 2]] if directed else [[0, 1, 1, 2], [1, 0, 2, 1]])
    dense_x = torch.from_numpy(X)
    x = {"dense": dense_x, "coo": dense_x.to_sparse(), "csr": dense_x.to_sparse_csr()}[layout]
    graph = Graph.from_pyg(Data(x=x, edge_index=edge_index, y=torch.tensor([7, 8, 9])))
    assert isinstance(graph.features([0]), csr_array) == (layout != "dense")
    assert graph.keys_of([2, 0]) == [2, 0]
    data = graph.to_pyg()
    assert data.y is None
    assert torch.equal(data.x, dense_x)
    assert data.edge_index.tolist() == [[0, 1, 1, 2], [1, 0, 2, 1]]
    assert Graph.from_pyg(data).content_hash == Graph(range(3), X, [(0, 1), (1, 2)]).content_hash


def test_pyg_with_keys_and_without_edges() -> None:
    none = torch.zeros(2, 0, dtype=torch.int64)
    graph = Graph.from_pyg(Data(x=torch.eye(2, requires_grad=True), edge_index=none), ["a", "b"])
    assert (graph.num_edges, graph.keys_of([1])) == (0, ["b"])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (Data(x=torch.eye(2)), "both x and edge_index"),
        (Data(edge_index=torch.tensor([[0], [1]]), num_nodes=2), "both x and edge_index"),
        (Data(x=torch.eye(2), edge_index=torch.tensor([[0], [2]])), "not among the 2 rows"),
        (Data(x=torch.eye(2), edge_index=torch.tensor([[0], [-1]])), "not among the 2 rows"),
    ],
)
def test_pyg_that_is_no_graph_is_refused(data: Data, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Graph.from_pyg(data)


@pytest.mark.parametrize(
    "features", [X, X.astype(np.float16), csr_array(X)], ids=["dense", "half", "sparse"]
)
@pytest.mark.parametrize("new", [np.full((2, 2), 9.0), csr_array(np.full((2, 2), 9.0))])
def test_growing_keeps_every_row(features: Matrix, new: Matrix) -> None:
    graph = small(features)
    grown = graph.grow(["e", "d"], new, [("d", "a"), ("b", "a")])
    assert grown.keys_of(range(5)) == ["a", "b", "c", "e", "d"]
    assert dense(grown.features(range(5))).tolist() == [*X.tolist(), [9.0, 9.0], [9.0, 9.0]]
    assert np.stack(grown.edges(), axis=1).tolist() == [[0, 1], [0, 4], [1, 2]]
    assert grown._features.dtype == graph._features.dtype
    assert graph.num_nodes == 3


def test_edges_alone_can_grow() -> None:
    assert small().grow(edges=[("a", "c")]).num_edges == 3


@pytest.mark.parametrize(
    ("keys", "features", "edges", "message"),
    [
        (["a"], np.ones((1, 2)), [], "more than once: 'a'"),
        ([1], np.ones((1, 2)), [], "same type"),
        (["d"], None, [], "1 new nodes need feature rows too"),
        (["d"], np.ones((1, 3)), [], "3 columns, the graph 2"),
        (["d"], np.ones((2, 2)), [], "1 new nodes need as many feature rows, not 2"),
        (["d"], np.array([[np.nan, 0]]), [], "NaN"),
        ([], None, [("a", "z")], "'z'"),
    ],
)
def test_growth_that_does_not_fit_is_refused(
    keys: list[Any], features: Matrix | None, edges: list[tuple[str, str]], message: str
) -> None:
    with pytest.raises((DataError, UnknownNodeError), match=message):
        small().grow(keys, features, edges)


def test_the_hash_ignores_how_the_same_graph_is_told() -> None:
    graph = small()
    told = [("c", "b"), ("b", "a"), ("a", "b"), ("b", "b")]
    assert Graph(["a", "b", "c"], X.astype(np.float64), told).content_hash == graph.content_hash
    joined = graph._adjacency
    wide = Adjacency(joined.indptr.astype(np.int64), joined.indices.astype(np.int64))
    keys = NodeKeys(["a", "b", "c"])
    assert Graph.from_parts(keys, X, wide).content_hash == graph.content_hash
    rows, columns = np.nonzero(X)
    shuffled = coo_array((X[rows, columns][::-1], (rows[::-1], columns[::-1])), shape=X.shape)
    assert small(shuffled).content_hash == small(csr_array(X)).content_hash


def test_the_hash_depends_on_every_part() -> None:
    more = X.copy()
    more[2, 1] += 1
    others = [
        small(),
        small(more),
        small(csr_array(X)),
        small(X.astype(np.float16)),
        Graph(["a", "b", "d"], X, [("a", "b"), ("b", "d")]),
        Graph(["b", "a", "c"], X, [("a", "b"), ("a", "c")]),
        Graph(["a", "b", "c"], X, [("a", "b"), ("a", "c")]),
        Graph(range(3), X, [(0, 1), (1, 2)]),
    ]
    assert len({graph.content_hash for graph in others}) == len(others)


def reachable(start: object) -> list[Any]:
    """Everything an object holds, directly or not, short of modules and classes."""
    found: dict[int, Any] = {}
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if id(one) not in found and not isinstance(one, type) and not hasattr(one, "__spec__"):
            found[id(one)] = one
            waiting += [*gc.get_referents(one), *getattr(one, "__dict__", {}).values()]
    return list(found.values())


def test_neither_graph_nor_view_carries_labels() -> None:
    secret = torch.tensor([71, 82, 93])
    data = Data(x=torch.from_numpy(X), edge_index=torch.tensor([[0, 1], [1, 2]]), y=secret)
    graph = Graph.from_pyg(data)
    view = graph.view(np.array([0, 1]))
    view.propagated(np.array([0]), 2)
    graph.full_batch(2)
    for owner in (graph, view):
        assert not [name for name in dir(owner) if name == "y" or "label" in name]
        held = reachable(owner)
        assert not any(isinstance(one, NodeLabels | Data) for one in held)
        arrays = [np.asarray(one) for one in held if isinstance(one, np.ndarray | torch.Tensor)]
        assert not any(np.isin(secret.numpy(), array).all() for array in arrays)
        assert arrays


def test_a_graph_is_the_view_in_which_all_is_visible() -> None:
    graph = random_graph()
    assert graph.num_edges == joined_in(graph).sum() // 2
    assert graph.rows.tolist() == everyone(graph).tolist()
    assert isinstance(graph, GraphView)


def test_graphs_views_and_labels_say_what_they_hold() -> None:
    graph = small()
    assert repr(graph) == "Graph(3 nodes, 2 undirected edges, 2 features)"
    assert repr(graph.view(np.array([0, 2]))) == "GraphView(2 of 3 nodes, 2 features)"
    assert repr(NodeLabels({"x": [0, 1]})) == "NodeLabels(1 classes, 2 nodes)"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (np.array([[0, 1, 2], [1, 2, 0]]), r"shape \(2, 3\): give its transpose"),
        (torch.tensor([[0, 1, 2], [1, 2, 0]]), "give its transpose"),
        (np.array([0, 1]), r"shape \(2,\)"),
        ([[0, 1, 2], [1, 2, 0]], r"a pair of node keys, not \[0, 1, 2\]"),
        (["ab"], "a pair of node keys, not 'ab'"),
        ([None], "a pair of node keys, not None"),
    ],
)
def test_edges_that_are_no_pairs_are_refused(edges: Any, message: str) -> None:
    """An edge_index of PyG, read as pairs, would be another graph without a word."""
    with pytest.raises(DataError, match=message):
        Graph(range(3), X, edges)
    with pytest.raises(DataError, match=message):
        Graph(range(3), X).grow(edges=edges)


def test_an_array_of_pairs_is_as_good_as_a_list() -> None:
    pairs = np.array([[0, 1], [1, 2]])
    assert (
        Graph(range(3), X, pairs).content_hash == Graph(range(3), X, [(0, 1), (1, 2)]).content_hash
    )


def test_features_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(DataError, match="must be numbers"):
        Graph(["a"], np.array([["text"]]))


def test_a_text_where_keys_are_meant_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"list of node keys is needed, not 'abc'"):
        small().rows_of("abc")


KINDS: dict[str, Any] = {
    "cites": Relation([("a", "b"), ("c", "b")], directed=True),
    "like": Relation([("a", "b"), ("b", "a")], weights=[1, 2.5]),
    "near": [("b", "c")],
}


def typed() -> Graph:
    return Graph(["a", "b", "c"], X, KINDS)


def told_of(graph: Graph, name: str) -> list[tuple[Any, ...]]:
    """The edges of a kind by key: with a direction where they lead, else the earlier row first."""
    edges = graph._store.adjacency(name)
    rows, columns, weights, directions = edges.entries()
    shown = rows < columns if directions is None else (directions & OUT) > 0
    ends = zip(graph.keys_of(rows[shown]), graph.keys_of(columns[shown]), strict=True)
    if weights is None:
        return list(ends)
    return [(*pair, weight) for pair, weight in zip(ends, weights[shown].tolist(), strict=True)]


def told(graph: Graph) -> dict[str, list[tuple[Any, ...]]]:
    return {name: told_of(graph, name) for name in graph.relations}


def test_a_graph_may_have_edges_of_several_kinds() -> None:
    graph = typed()
    assert told(graph) == {
        "cites": [("a", "b"), ("c", "b")],
        "like": [("a", "b", 2.5)],
        "near": [("b", "c")],
    }
    assert [graph.is_directed(name) for name in graph.relations] == [True, False, False]
    assert np.stack(graph.edges(), axis=1).tolist() == [[0, 1], [1, 2]]
    assert repr(graph) == "Graph(3 nodes, 4 undirected edges of 3 types, 2 features)"
    assert (graph.num_edges, graph.num_edges_of_all_types) == (2, 4)


def test_one_kind_may_be_a_relation_without_a_name() -> None:
    graph = Graph(["a", "b", "c"], X, Relation(PATH, weights=[0.5, 2], directed=True))
    assert told(graph) == {"edges": [("a", "b", 0.5), ("b", "c", 2.0)]}


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ({}, "at least one edge type"),
        ({"": PATH}, "needs a name \\(text\\), not ''"),
        ({7: PATH}, "needs a name \\(text\\), not 7"),
        (Relation(PATH, weights=[1.0]), "2 edges need as many weights"),
        (
            Relation(PATH, weights=np.array(["1", "2"])),
            "weights, which are numbers; these are of type <U1",
        ),
        (Relation(PATH, weights=[True, False]), "of type bool"),
        (Relation(PATH, weights=np.ones((1, 2))), r"shape \(1, 2\)"),
        (Relation(PATH, weights=[1.0, 0.0]), "positive and finite; 1 are not, such as 0.0"),
        (Relation(PATH, weights=[np.nan, -1.0]), "2 are not, such as nan"),
        (Relation(PATH, weights=[1e39, 1.0]), "1 are not, such as 1e[+]39"),
        (Relation(PATH, weights=[1e-60, 1.0]), "1 are not, such as 1e-60"),
        ({"x": Relation([("a", "z")])}, "1 of 2 nodes is not in this graph: 'z'"),
    ],
)
def test_kinds_that_make_no_graph_are_refused(edges: Any, message: str) -> None:
    with pytest.raises((DataError, UnknownNodeError), match=message):
        Graph(["a", "b", "c"], X, edges)


def test_growing_adds_to_kinds_and_brings_new_ones() -> None:
    new: dict[str, Any] = {
        "cites": [("d", "a"), ("b", "a")],
        "like": Relation([("a", "b"), ("c", "d")], weights=[1, 4]),
        "sells": Relation([("d", "b")], directed=True),
    }
    grown = typed().grow(["d"], np.zeros((1, 2)), new)
    assert told(grown) == {
        # Given without a word of direction: it is that of the kind.
        "cites": [("a", "b"), ("b", "a"), ("c", "b"), ("d", "a")],
        # Of an edge told again the largest weight counts.
        "like": [("a", "b", 2.5), ("c", "d", 4.0)],
        "near": [("b", "c")],
        "sells": [("d", "b")],
    }
    assert told(typed())["like"] == [("a", "b", 2.5)]


def test_weights_come_to_a_kind_that_had_none() -> None:
    grown = small().grow(edges=Relation([("a", "c"), ("a", "b")], weights=[0.5, 3]))
    assert told(grown) == {"edges": [("a", "b", 3.0), ("a", "c", 0.5), ("b", "c", 1.0)]}


def test_growing_by_nodes_alone_names_no_kind() -> None:
    grown = typed().grow(["d"], np.zeros((1, 2)))
    assert grown.num_nodes == 4
    assert told(grown) == told(typed())


@pytest.mark.parametrize("edges", [PATH, np.array(PATH), iter(PATH), Relation(PATH)])
def test_with_several_kinds_plain_pairs_are_refused(edges: Any) -> None:
    message = r"edge types cites, like, near: give the type .* as in \{\"cites\": pairs\}"
    with pytest.raises(DataError, match=message):
        typed().grow(edges=edges)


@pytest.mark.parametrize("edges", [PATH, Relation(PATH, directed=True)], ids=["pairs", "directed"])
@pytest.mark.parametrize("directed", [True, False])
def test_a_kind_keeps_its_direction_without_any_edge_too(edges: Any, directed: bool) -> None:
    """Edges that lead nowhere once came of it."""
    empty = Graph(["a", "b", "c"], X, {"cites": Relation([], directed=directed)})
    grown = empty.grow(edges=edges)
    assert grown.is_directed("cites") == (directed or edges is not PATH)
    assert told(grown) == {"cites": PATH}


def test_edges_without_a_direction_do_not_get_one() -> None:
    with pytest.raises(DataError, match="Edges of type 'near' have no direction in this graph"):
        typed().grow(edges={"near": Relation([("a", "c")], directed=True)})


@pytest.mark.parametrize("sparse", [False, True])
def test_another_order_of_rows_is_the_same_graph(sparse: bool) -> None:
    graph, order = typed_graph(sparse), np.random.default_rng(0).permutation(40)
    other = graph.reordered(order)
    assert other.relations == graph.relations
    assert np.array_equal(dense(other.features(other.rows)), dense(graph.features(order)))
    for name, kind in random_kinds().items():
        found = other._store.adjacency(name)
        assert np.array_equal(weights_in(found), weights_in(kind)[np.ix_(order, order)])
        for way in (OUT, IN):
            truth = dense(kind.along(way))[np.ix_(order, order)]
            assert np.array_equal(dense(found.along(way)), truth)
    assert other.reordered(np.argsort(order)).content_hash == graph.content_hash


def test_edges_are_kept_kind_by_kind() -> None:
    graph = typed_graph()
    cut = graph.keeping_edges(lambda source, target: (source + target) % 3 > 0)
    stays = np.add.outer(everyone(graph), everyone(graph)) % 3 > 0
    for name, kind in random_kinds().items():
        found = cut._store.adjacency(name)
        assert np.array_equal(weights_in(found), weights_in(kind) * stays)
        assert np.array_equal(dense(found.along(OUT)), dense(kind.along(OUT)) * stays)
    assert cut.num_edges < graph.num_edges
    every = graph.keeping_edges(lambda source, _: np.ones(source.size, dtype=bool))
    assert every.content_hash == graph.content_hash


def test_merged_kinds_are_one_plain_graph() -> None:
    assert typed().merging_kinds().content_hash == small().content_hash
    assert small().merging_kinds().content_hash == small().content_hash


def test_other_features_leave_kinds_as_they_are() -> None:
    changed = typed().with_features(X + 1)
    assert told(changed) == told(typed())
    assert dense(changed.features([0])).tolist() == [[1, 2]]


def test_the_hash_of_a_plain_graph_is_what_it_was() -> None:
    """Before edges had kinds: results on record name graphs by it."""
    assert small().content_hash == "215ab8991634718debf0b7525d86708c"
    sparse = Graph(range(3), csr_array(X), [(0, 1), (1, 2)])
    assert sparse.content_hash == "b6ef20f370beb838e7874f4d94cc5a4d"
    assert Graph(["a", "b", "c"], X, {"edges": PATH}).content_hash == small().content_hash


def test_the_hash_depends_on_kinds_weights_and_directions() -> None:
    turned = [("b", "a"), ("b", "c")]
    edges: list[Any] = [
        PATH,
        Relation(PATH, weights=[1, 1]),
        Relation(PATH, weights=[1, 2]),
        Relation(PATH, weights=[2, 1]),
        Relation(PATH, directed=True),
        Relation(turned, directed=True),
        Relation(turned, weights=[1, 2], directed=True),
        {"cites": PATH},
        {"cites": PATH, "like": []},
        {"cites": PATH[:1], "like": PATH[1:]},
        {"cites": PATH[1:], "like": PATH[:1]},
        {"cites": PATH, "like": PATH[1:]},
    ]
    hashes = [Graph(["a", "b", "c"], X, one).content_hash for one in edges]
    assert len(set(hashes)) == len(edges)
    again = Relation([("c", "b"), ("b", "a"), ("a", "b")], weights=[2, 0.5, 1])
    assert Graph(["a", "b", "c"], X, again).content_hash == hashes[2]


def test_kinds_may_become_one_with_weights() -> None:
    edges = {"on": [("a", "b")], "by": [("a", "b"), ("b", "c")]}
    graph = Graph(["a", "b", "c"], np.eye(3), edges)
    one = graph.weighing_kinds({"on": 2.0, "by": 0.5})
    source, target, weights = one.edges_of("edges")
    assert (source.tolist(), target.tolist()) == ([0, 1], [1, 2])
    assert weights is not None
    assert weights.tolist() == [2.5, 0.5]
