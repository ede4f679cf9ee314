"""Graphs with nodes of several types, read from tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch_geometric.data import HeteroData

import nodegraft as ng
from nodegraft.base.errors import DataError, MissingColumnError, ParameterError, TablesError
from nodegraft.graph.edges.matrix import is_sparse
from nodegraft.graph.graph import Graph
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.hetero import read_hetero, to_hetero
from nodegraft.tables.read import Tables, grow_graph, grow_tables, read_graph, read_tables
from nodegraft.tables.storage import load_graph, save_graph

WORDS = ("felt wool brim", "sole lace leather")
KEY = {"product": "sku", "user": "user_id"}


def products(first: int = 0, count: int = 8) -> dict[str, Any]:
    numbers = range(first, first + count)
    return {"sku": [f"p{i}" for i in numbers], "text": [WORDS[i % 2] for i in numbers]}


NODES = {"product": products(), "user": {"user_id": [3, 4], "age": [20.0, 40.0]}}
EDGES = {
    ("user", "bought", "product"): {"user_id": [3, 3, 4], "sku": ["p0", "p2", "p1"]},
    "product:has:tag": {"source": ["p0", "p2", "p1"], "target": ["warm", "warm", "long"]},
}
LABELS = {"sku": ["p0", "p1"], "label": ["hats", "shoes"]}


def read(nodes: Any = NODES, edges: Any = EDGES, **options: Any) -> Tables:
    chosen: dict[str, Any] = {
        "key": KEY,
        "text": "text",
        "features": "user:age",
        "min_documents": 1,
    } | options
    return read_tables(nodes, edges, **chosen)


def dense(graph: Graph, keys: list[Any]) -> np.ndarray[Any, Any]:
    features = graph.features(graph.rows_of(keys))
    return features.toarray() if is_sparse(features) else features


def neighbours(graph: Graph, key: Any) -> set[Any]:
    return set(graph.keys_of(graph.neighbours(graph.rows_of([key]))[1]))


def test_nodes_of_other_types_have_their_type_in_the_key() -> None:
    tables = read(labels=LABELS)
    graph = tables.graph
    assert graph.node_types == ("product", "user", "tag")
    assert graph.keys_of(graph.rows)[8:] == ["user:3", "user:4", "tag:warm", "tag:long"]
    assert graph.keys_of(graph.targets) == [f"p{i}" for i in range(8)]
    assert graph.relations == ("user:bought:product", "product:has:tag")
    assert neighbours(graph, "p0") == {"user:3", "tag:warm"}
    assert tables.labels is not None
    assert tables.labels["hats"].tolist() == ["p0"]
    lines = str(tables.report)
    assert "8  nodes of type product, which are classified" in lines
    assert "2  nodes of type tag, which are not classified" in lines
    assert "missing" not in lines, "columns of other types are not missing"


def test_features_of_each_type_are_its_own() -> None:
    graph, alone = (
        read().graph,
        read_tables(NODES["product"], key="sku", text="text", min_documents=1).graph,
    )
    own = dense(graph, ["p0", "p1"])
    words = alone.num_features
    ages = dense(graph, ["user:3", "user:4"])
    assert (own[:, words:] == 0).all()
    assert (ages[:, :words] == 0).all()
    assert ages[:, words].tolist() == [-ages[1, words], ages[1, words]]
    # Scaled as if there were no other type: only products have texts.
    ratio = own[:, :words] / np.maximum(dense(alone, ["p0", "p1"]), 1e-9)
    assert np.ptp(ratio[ratio > 0]) < 1e-6


def test_types_without_features_have_zeros() -> None:
    graph = read().graph
    assert not dense(graph, ["tag:warm", "tag:long"]).any()
    assert not dense(read(features=()).graph, ["user:3"]).any()


def test_one_type_gives_the_graph_of_one_table() -> None:
    typed = read_tables({"product": products()}, key="sku", text="text", min_documents=1).graph
    plain = read_tables(products(), key="sku", text="text", min_documents=1).graph
    assert typed.keys_of(typed.targets) == plain.keys_of(plain.rows)
    assert abs(typed.features(typed.rows) - plain.features(plain.rows)).max() == 0


@pytest.mark.parametrize(
    ("nodes", "edges", "options", "message"),
    [
        ({**NODES, "product": {"sku": ["user:1"], "text": ["a"]}}, {}, {}, "looks like a node"),
        (NODES, {("a", "b"): NODES["user"]}, {}, "is no edge type"),
        (NODES, {"source": ["p0"], "target": ["p1"]}, {}, "each edge table with its type"),
        (NODES, EDGES, {"key_type": "integer"}, "several node types are text"),
        (NODES, EDGES, {"edge_type": "kind"}, "Omit edge_type"),
        (NODES, EDGES, {"key": {"cart": "id"}}, "key has the node type 'cart'"),
        (NODES, {("product", "made:of", "tag"): EDGES["product:has:tag"]}, {}, "is no edge type"),
        (NODES, {"product::tag": EDGES["product:has:tag"]}, {}, "is no edge type"),
        (NODES, EDGES | {("product", "has", "tag"): NODES["user"]}, {}, "given twice"),
        (NODES, EDGES, {"edge_weight": "tims"}, "No edge table has the column 'tims'"),
        (products(), EDGES, {}, "need node tables by type"),
        (products(), None, {"features": ()}, "is for node tables by type"),
        (NODES, EDGES, {"key": ["sku"]}, "key must be text or a table"),
        ({"a b": products()}, None, {"key": "sku", "features": ()}, "is a word without blanks"),
    ],
)  # fmt: skip
def test_tables_that_do_not_fit(nodes: Any, edges: Any, options: Any, message: str) -> None:
    with pytest.raises((DataError, ParameterError), match=message):
        read(nodes, edges, **options)


def test_the_end_of_an_edge_has_the_type_that_the_edge_type_names() -> None:
    joined = {"product:has:tag": {"source": ["p0", "tag:warm"], "target": ["warm", "long"]}}
    with pytest.raises(DataError, match=r"'tag:warm' of the table of edges .* of type product"):
        read(edges=joined)


def test_a_table_of_another_type_may_be_empty(tmp_path: Path) -> None:
    table = tmp_path / "users.csv"
    table.write_text("user_id,age\n")
    tags = {"product:has:tag": EDGES["product:has:tag"]}
    empty: dict[str, list[Any]] = {"user_id": [], "age": []}
    for users in (str(table), empty):
        graph = read({**NODES, "user": users}, tags).graph
        assert graph.node_types == ("product", "user", "tag")
        assert graph.num_nodes == 10
    grown = grow_graph(graph, {"user": {"user_id": ["5"], "age": [30.0]}}, key=KEY)
    assert grown.keys_of(grown.rows)[-1] == "user:5"


def test_a_key_with_its_type_is_the_key_without_it() -> None:
    users = {"user_id": ["user:3", "4"], "age": [20.0, 40.0]}
    bought = {"user_id": ["3", "user:3", "user:4"], "sku": ["p0", "p2", "p1"]}
    tags = {"source": ["p0", "p1"], "target": ["tag:warm", "warm"]}
    graph = read(
        {**NODES, "user": users}, {"user:bought:product": bought, "product:has:tag": tags}
    ).graph
    assert graph.keys_of(graph.rows)[8:] == ["user:3", "user:4", "tag:warm"]
    assert neighbours(graph, "user:3") == {"p0", "p2"}
    with pytest.raises(TablesError, match=r"node key seen before.*row 2: user:3"):
        read({**NODES, "user": {"user_id": ["3", "user:3"], "age": [1.0, 2.0]}})


def test_labels_of_nodes_that_are_not_classified_are_refused() -> None:
    labels = {"sku": ["p0", "tag:warm", "p1"], "label": ["hats", "hats", "shoes"]}
    message = r"label of nodes whose type is not classified, column 'sku'.*row 2: tag:warm"
    with pytest.raises(TablesError, match=message):
        read(labels=labels)
    tables = read(labels=labels, repair=True)
    assert tables.labels is not None
    assert tables.labels["hats"].tolist() == ["p0"]
    with pytest.raises(TablesError, match=message):
        ng.read_labels(labels, tables.graph, key="sku")


def test_feature_columns_of_a_type_without_a_table_are_missing() -> None:
    with pytest.raises(MissingColumnError, match="'tag:words'"):
        read(features=["user:age", "tag:words"])
    numbers = {**NODES, "user": {"user_id": [3, 4], "age": [20.0, 40.0], "visits": [1.0, 3.0]}}
    graph = read(numbers, features="user:*").graph
    assert graph.recipe is not None
    again = read_graph({"product": products()}, EDGES, key=KEY, recipe=graph.recipe, repair=True)
    assert again.num_features == graph.num_features


def test_edges_to_unknown_nodes_of_a_table_are_refused() -> None:
    wrong = {"user:bought:product": {"user_id": [3, 9], "sku": ["p0", "p1"]}}
    with pytest.raises(TablesError, match="user:9–p1"):
        read(edges=wrong)
    assert read(edges=wrong, repair=True).graph.num_edges == 1


def test_missing_columns_of_an_edge_table_are_named() -> None:
    with pytest.raises(MissingColumnError, match="'source' and 'target', or 'user_id' and 'sku'"):
        read(edges={"user:bought:product": {"who": [3], "what": ["p0"]}})


def test_weights_of_edge_tables() -> None:
    edges = {
        "user:bought:product": {"user_id": [3], "sku": ["p0"], "times": [5.0]},
        "product:has:tag": {"source": ["p0"], "target": ["warm"]},
    }
    graph = read(edges=edges, edge_weight="times").graph
    _, _, weights = graph.edges_of("user:bought:product")
    _, _, ones = graph.edges_of("product:has:tag")
    assert weights is not None
    assert ones is not None
    assert (weights.tolist(), ones.tolist()) == ([5.0], [1.0])
    assert read(edges=None, edge_weight="times").graph.num_edges == 0


def test_only_classified_nodes_are_sampled_near_and_labelled() -> None:
    graph = read().graph
    assert set(graph.sampled(100, graph.rows[:0])) == set(graph.targets)
    (near,) = graph.nearest([graph.rows_of(["p0"])], 5, [2.0])
    assert graph.keys_of(near) == ["p2"], "through user 3 and the tag warm"
    view = graph.view(np.delete(graph.rows, graph.rows_of(["p4", "tag:long"])))
    assert view.keys_of(view.nearest([graph.rows_of(["p0"])], 5, [2.0])[0]) == ["p2"]
    assert view.keys_of(view.targets) == [f"p{i}" for i in range(8) if i != 4]
    with pytest.raises(DataError, match="'tag:warm' is a node of type tag"):
        ng.Graft().fit(graph, {"hats": ["p0", "tag:warm"], "shoes": ["p1"]})
    model = ng.Graft().fit(graph, {"hats": ["p0"], "shoes": ["p1"]})
    with pytest.raises(DataError, match="only nodes of type product have a class"):
        model.predict(graph, ["user:3"])
    nodes = [key for block in model.predict_all(graph) for key in graph.keys_of(block.rows)]
    assert nodes == graph.keys_of(graph.targets)


def test_weight_of_an_edge_type_follows_the_classes_that_share_a_node() -> None:
    numbers = range(60)
    labels = {
        "hats": [f"p{i}" for i in range(0, 60, 2)],
        "shoes": [f"p{i}" for i in range(1, 60, 2)],
    }
    edges = {
        "product:has:tag": {
            "source": [f"p{i}" for i in numbers],
            "target": [f"t{i % 6}" for i in numbers],
        },
        "product:in:cart": {
            "source": [f"p{i}" for i in numbers],
            "target": [f"c{i // 6}" for i in numbers],
        },
    }
    graph = read({"product": products(0, 60)}, edges, key="sku", key_type="text", features=()).graph
    model = ng.Graft().fit(graph, labels)
    assert model.kinds_["product:has:tag"] > 1.0, "six tags, each of one class"
    assert model.kinds_["product:in:cart"] < 0.1, "carts have both classes"
    named = model.explain(graph, "p0")["labels"][0]
    assert set(named) >= {"node", "through"}


def test_growing_adds_nodes_of_any_type() -> None:
    graph = read().graph
    grown = grow_graph(
        graph,
        {"product": products(8, 1)},
        {"product:has:tag": {"source": ["p8", "p8"], "target": ["warm", "new"]}},
        key=KEY,
    )
    assert grown.keys_of(grown.rows)[-2:] == ["p8", "tag:new"]
    assert not dense(grown, ["tag:new"]).any()
    assert neighbours(grown, "p8") == {"tag:warm", "tag:new"}


def test_growing_by_one_table_adds_classified_nodes() -> None:
    graph = read().graph
    edges = {"source": ["p8"], "target": ["user:4"], "kind": ["user:bought:product"]}
    grown = grow_graph(graph, products(8, 1), edges, key=KEY, edge_type="kind")
    assert neighbours(grown, "p8") == {"user:4"}
    again = grow_tables(graph, {"user": {"user_id": [3], "age": [1.0]}}, key=KEY, repair=True)
    assert again.graph.num_nodes == graph.num_nodes
    with pytest.raises(ParameterError, match="nodes has the node type 'cart'"):
        grow_graph(graph, {"cart": {"key": ["c"]}}, key=KEY)
    plain = read_tables(products(), key="sku", text="text", min_documents=1).graph
    with pytest.raises(DataError, match="one node type"):
        grow_graph(plain, {"product": products(8, 1)}, key="sku")


def test_types_are_saved_with_the_graph(tmp_path: Path) -> None:
    graph = read().graph
    save_graph(graph, tmp_path / "graph")
    options: dict[str, Any] = {"key": KEY, "text": "text", "features": "user:age"}
    on_disk = build_graph(NODES, EDGES, tmp_path / "disk", **options, min_documents=1)
    for other in (load_graph(tmp_path / "graph"), on_disk.graph):
        assert other.node_types == graph.node_types
        assert other.keys_of(other.targets) == graph.keys_of(graph.targets)
        assert abs(other.features(other.rows) - graph.features(graph.rows)).max() == 0
    assert on_disk.graph.is_on_disk


def test_rows_beside_the_graph_are_of_the_classified_type() -> None:
    graph = read().graph
    model = ng.Graft().fit(graph, {"hats": ["p0", "p2"], "shoes": ["p1", "p3"]})
    row = {"text": WORDS[1], "edges": [{"type": "product:has:tag", "target": "tag:long"}]}
    assert model.predict(graph, rows=[row]) == ["shoes"]


def test_hetero_data_there_and_back() -> None:
    graph = read().graph
    data = to_hetero(graph)
    assert data["tag"].num_nodes == 2
    assert data["user", "bought", "product"].edge_index.tolist() == [[0, 1, 0], [0, 1, 2]]
    keys = {name: data[name].key for name in graph.node_types}
    again = read_hetero(data, "product", keys)
    assert again.keys_of(again.rows) == graph.keys_of(graph.rows)
    for key in graph.keys_of(graph.rows):
        assert neighbours(again, key) == neighbours(graph, key)
        assert dense(again, [key]) == pytest.approx(dense(graph, [key]), abs=1e-6)


def test_hetero_data_with_rows_as_keys() -> None:
    data = HeteroData()
    data["author"].num_nodes = 2
    data["paper"].x = torch.eye(3)
    data["author", "writes", "paper"].edge_index = torch.tensor([[0, 1, 1], [0, 1, 2]])
    graph = read_hetero(data, "paper")
    assert graph.keys_of(graph.rows) == ["0", "1", "2", "author:0", "author:1"]
    assert dense(graph, ["1", "author:1"]).tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]
    with pytest.raises(DataError, match="none of the node types"):
        read_hetero(data, "book")
    with pytest.raises(DataError, match="1 keys were given for 3 nodes"):
        read_hetero(data, "paper", {"paper": ["x"]})
    with pytest.raises(DataError, match="one node type"):
        to_hetero(Graph(["a"], np.ones((1, 1))))


def test_reordered_graphs_keep_the_types() -> None:
    graph = read().graph
    rows = graph.rows[::-1].copy()
    turned = graph.reordered(rows)
    assert turned.targets.size == graph.targets.size
    assert next(key for key in turned.keys_of(turned.rows) if ":" in str(key)) == "tag:0"


def test_tables_in_memory_are_no_types() -> None:
    table = pa.table({"key": ["a"], "x": [1.0]})
    assert read_tables({"key": ["a"], "x": [1.0]}, features="x").graph.node_types == ()
    assert read_tables({"thing": table}, features="x").graph.node_types == ("thing",)
