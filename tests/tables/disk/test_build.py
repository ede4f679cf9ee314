from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from nodegraft.base.errors import CheckpointError, DataError
from nodegraft.base.events import Listener
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.methods.graft import Graft
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.disk.folder import JOURNAL
from nodegraft.tables.read import read_tables
from nodegraft.tables.storage import load_graph
from tests.tables.disk.tables import KeyType, node_keys, write_tables

OPTIONS: Mapping[str, dict[str, Any]] = {
    "numbers": {"features": "price"},
    "lists": {"features": "list", "edge_weight": "times"},
    "halves": {"features": "half", "edge_type": "kind"},
    "words": {"text": "text", "edge_type": "kind", "directed": ["cites", "by"]},
    "all": {
        "text": "text",
        "features": ["price", "list"],
        "categories": "brand",
        "min_documents": 2,
        "edge_type": "kind",
        "edge_weight": "times",
        "directed": "cites",
    },
    "directed": {"features": "price", "directed": True},
}
SMALL = 20_000
"""Bytes: some ten pieces of everything."""


def expect_same_edges(one: Adjacency, other: Adjacency) -> None:
    for part in ("indptr", "indices", "weights", "directions"):
        mine, theirs = getattr(one, part), getattr(other, part)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(mine, theirs)


def expect_same(built: Graph, read: Graph) -> None:
    assert built.content_hash == read.content_hash
    assert built.recipe == read.recipe
    assert type(built._store.feature_matrix) is type(read._store.feature_matrix)
    assert built._features.dtype == read._features.dtype
    assert built.relations == read.relations
    for name in read.relations:
        expect_same_edges(built._store.adjacency(name), read._store.adjacency(name))
    expect_same_edges(built._adjacency, read._adjacency)
    drawn = built.sampled(50, np.arange(10)), read.sampled(50, np.arange(10))
    np.testing.assert_array_equal(*drawn)


@pytest.mark.parametrize("memory", [SMALL, 10**9], ids=["little memory", "much"])
@pytest.mark.parametrize("kind", ["text", "integers"])
@pytest.mark.parametrize("options", OPTIONS)
def test_a_built_graph_is_the_one_that_is_read(
    options: str, kind: KeyType, memory: int, tmp_path: Path
) -> None:
    tables = write_tables(tmp_path, kind)
    read = read_tables(*tables, **OPTIONS[options])
    built = build_graph(*tables, tmp_path / "graph", memory=memory, **OPTIONS[options])
    expect_same(built.graph, read.graph)
    assert str(built.report) == str(read.report)
    load_graph(tmp_path / "graph", verify=True)


def test_parts_are_read_one_after_the_other(tmp_path: Path) -> None:
    tables = write_tables(tmp_path, "text")
    whole = read_tables(*tables, features="price").graph
    for table in tables:
        rows = pa.parquet.read_table(table)
        (parts := tmp_path / table.stem).mkdir()
        for place in range(0, rows.num_rows, 111):
            name = f"part-{place:05}.parquet"
            pa.parquet.write_table(rows.slice(place, 111), parts / name)
    folders = tmp_path / "nodes", tmp_path / "edges"
    expect_same(build_graph(*folders, tmp_path / "graph", features="price").graph, whole)


def test_a_model_answers_the_same(tmp_path: Path) -> None:
    tables = write_tables(tmp_path, "text")
    read = read_tables(*tables, text="text", edge_type="kind").graph
    built = build_graph(*tables, tmp_path / "graph", memory=SMALL, text="text", edge_type="kind")
    keys = [key for key in node_keys("text").tolist() if key]
    labels = {"a": keys[:8], "b": keys[20:28], "c": keys[40:48]}
    scores = [
        Graft(seed=3).fit(graph, labels).predict_proba(graph, keys[60:90])
        for graph in (read, load_graph(tmp_path / "graph"))
    ]
    assert built.graph.num_nodes == read.num_nodes
    np.testing.assert_array_equal(scores[0], scores[1])


@pytest.mark.parametrize("options", ["words", "lists"])
def test_a_graph_on_disk_can_grow(options: str, tmp_path: Path) -> None:
    columns: dict[str, Any] = {"words": {"text": "text"}, "lists": {"features": "half"}}[options]
    tables = write_tables(tmp_path, "text")
    read = read_tables(*tables, edge_type="kind", **columns).graph
    build_graph(*tables, tmp_path / "graph", memory=SMALL, edge_type="kind", **columns)
    keys = [key for key in node_keys("text").tolist() if key]
    labels = {"a": keys[:8], "b": keys[20:28], "c": keys[40:48]}
    scores = []
    for graph in (read, load_graph(tmp_path / "graph")):
        model = Graft(seed=3).fit(graph, labels)
        model.predict(graph, keys[60:90])
        grown = graph.grow(["new"], graph.features([0]), {"cites": [("new", keys[3])]})
        scores.append(model.predict_proba(grown, ["new", *keys[60:90]]))
    np.testing.assert_array_equal(scores[0], scores[1])


def test_duplicates_are_refused_or_dropped(tmp_path: Path) -> None:
    nodes, edges = write_tables(tmp_path, "text")
    table = pa.parquet.read_table(nodes)
    # So many that whole pieces of the table are of no use.
    more = [table, *[table.slice(7, 9)] * 30]
    pa.parquet.write_table(pa.concat_tables(more), nodes, row_group_size=50)
    with pytest.raises(DataError, match="rows with a node key seen before"):
        build_graph(nodes, edges, tmp_path / "graph", features="price", memory=SMALL)
    options: dict[str, Any] = {"features": "price", "repair": True}
    read = read_tables(nodes, edges, **options)
    built = build_graph(nodes, edges, tmp_path / "graph", memory=SMALL, **options)
    expect_same(built.graph, read.graph)
    assert str(built.report) == str(read.report)


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    nodes = {"key": ["a", "a", "b"], "price": [1.0, 1.0, float("inf")], "about": ["x", "x", "y"]}
    tables = pa.table(nodes), pa.table({"source": ["a"], "target": ["nobody"]})
    columns: list[dict[str, Any]] = [{"features": "price"}, {"features": "about"}]
    for options in columns:
        with pytest.raises(DataError) as read:
            read_tables(*tables, **options)
        with pytest.raises(DataError) as built:
            build_graph(*tables, tmp_path / "graph", **options)
        assert str(built.value).splitlines()[-3:] == str(read.value).splitlines()[-3:]
        assert "rows with a node key" in str(built.value) or "row with a node" in str(built.value)
        assert "not in the table of nodes" in str(built.value)


@pytest.mark.parametrize("kind", ["text", "integers"])
def test_edges_that_do_not_fit_are_named(kind: KeyType, tmp_path: Path) -> None:
    nodes, edges = write_tables(tmp_path, kind)
    table = pa.parquet.read_table(edges)
    strange = ["nobody", None] if kind == "text" else [12345678, None]
    more = {name: table[name].slice(0, 2) for name in ("source", "times")}
    kinds = pa.array(["", None], pa.string())
    odd = pa.table(
        {"source": more["source"], "target": pa.array(strange, table["target"].type),
         "kind": kinds, "times": pa.array([-1.0, 2.0])}
    )  # fmt: skip
    pa.parquet.write_table(pa.concat_tables([table, odd.cast(table.schema)]), edges)
    options: dict[str, Any] = {"features": "price", "edge_type": "kind", "edge_weight": "times"}
    with pytest.raises(DataError, match="edges to nodes that are not in the table"):
        build_graph(nodes, edges, tmp_path / "graph", **options)
    read = read_tables(nodes, edges, repair=True, **options)
    built = build_graph(nodes, edges, tmp_path / "graph", repair=True, **options)
    expect_same(built.graph, read.graph)
    assert str(built.report) == str(read.report)


class Cut(Listener):
    """Ends the build in the middle of a step."""

    def __init__(self, stage: str) -> None:
        self.stage = stage
        self.met = list[str]()

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self.met.append(stage)
        if stage == self.stage and done > total // 2:
            raise KeyboardInterrupt


@pytest.mark.parametrize("stage", ["keys", "features", "edges"])
def test_a_cut_build_goes_on(stage: str, tmp_path: Path) -> None:
    tables, place = write_tables(tmp_path, "text"), tmp_path / "graph"
    options: dict[str, Any] = {"text": "text", "edge_type": "kind", "memory": SMALL}
    with pytest.raises(KeyboardInterrupt):
        build_graph(*tables, place, listener=Cut(stage), **options)
    with pytest.raises(CheckpointError):
        load_graph(place)
    again = Cut("nothing")
    built = build_graph(*tables, place, listener=again, **options)
    assert again.met[0] == stage
    read = read_tables(*tables, text="text", edge_type="kind")
    expect_same(built.graph, read.graph)
    assert built.report.edges == read.report.edges > built.graph.num_edges
    assert not (place / JOURNAL).exists()
    assert not (place / "work").exists()


def test_another_build_starts_anew(tmp_path: Path) -> None:
    tables, place = write_tables(tmp_path, "text"), tmp_path / "graph"
    with pytest.raises(KeyboardInterrupt):
        build_graph(*tables, place, text="text", listener=Cut("edges"))
    built = build_graph(*tables, place, features="price")
    expect_same(built.graph, read_tables(*tables, features="price").graph)


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    tables = write_tables(tmp_path, "integers")
    with pytest.raises(CheckpointError, match="already exists"):
        build_graph(*tables, tmp_path, features="price")
    build_graph(*tables, tmp_path / "graph", features="price")
    with pytest.raises(CheckpointError, match="already contains a graph"):
        build_graph(*tables, tmp_path / "graph", features="price")


def test_graphs_without_edges_can_be_built(tmp_path: Path) -> None:
    nodes, _ = write_tables(tmp_path, "integers")
    built = build_graph(nodes, None, tmp_path / "graph", features="price").graph
    expect_same(built, read_tables(nodes, features="price").graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"features": "prize"}, "no column 'prize'"),
        ({"features": "price", "key": "id"}, "no column 'id'"),
        ({"features": "price", "edge_type": "sort"}, "no column 'sort'"),
        ({"features": "price", "directed": ["cites"]}, "no edge type 'cites'"),
    ],
)
def test_wrong_names_are_told(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    tables = write_tables(tmp_path, "integers")
    with pytest.raises(DataError, match=message):
        build_graph(*tables, tmp_path / "graph", **options)
