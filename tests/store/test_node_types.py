"""Stores whose graph has nodes of several types."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.analysis.labels.changes import Change
from nodegraft.base.errors import DataError, GateError, ParameterError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.read import Tables, read_tables

WORDS = ("felt wool brim warm", "sole lace leather rubber", "mug handle porcelain tea")
NAMES = ("hats", "shoes", "mugs")
KEY = {"product": "sku", "cart": "cart"}
PROMOTE = Intent(promote=True)


def nodes(count: int = 60, first: int = 0) -> dict[str, Any]:
    numbers = range(first, first + count)
    texts = [" ".join(WORDS[i % 3].split()[: 2 + i % 3]) for i in numbers]
    return {"product": {"sku": [f"p{i}" for i in numbers], "text": texts}}


def edges(count: int = 60) -> dict[str, Any]:
    carts = [f"c{i % 3 + 3 * (i // 12)}" for i in range(count)]
    return {"product:in:cart": {"sku": [f"p{i}" for i in range(count)], "cart": carts}}


def tables() -> Tables:
    labels = {"sku": [f"p{i}" for i in range(36) if i % 3 < 2]}
    labels["label"] = [NAMES[i % 3] for i in range(36) if i % 3 < 2]
    options: dict[str, Any] = {"key": KEY, "text": "text", "min_documents": 1}
    return read_tables(nodes(), edges(), labels, **options)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    read = tables()
    assert read.labels is not None
    return Store.init(
        tmp_path / "store", read.graph, read.labels, texts=read.texts, tables={"key": KEY}
    )


def test_teach_preview_and_undo(store: Store) -> None:
    mugs = {"mugs": ["p2", "p5", "p8", "p11", "p14"]}
    preview = store.preview(Change("add", {"classes": mugs, "parent": None, "force_name": False}))
    assert preview.num_compared == preview.nodes == 60, "carts are not predicted"
    before = store.predict().probabilities
    store.add(mugs, intent=PROMOTE)
    assert store.predict(["p20", "p23"]).classes == ["mugs", "mugs"]
    assert len(store.predict().nodes) == 60
    store.undo(intent=PROMOTE)
    assert np.abs(store.predict().probabilities - before).max() <= 1e-6
    with pytest.raises(DataError, match="'cart:c0' is a node of type cart"):
        store.add({"mugs": ["cart:c0"]})
    with pytest.raises(DataError, match="only nodes of type product"):
        store.predict(["cart:c0"])


def test_grow_by_type_and_by_one_table(store: Store) -> None:
    carts = {"product:in:cart": {"sku": ["p60", "p60"], "cart": ["c0", "today"]}}
    version = store.grow(nodes(1, 60), carts, intent=PROMOTE)
    assert "2 nodes added, 2 edges added" in str(version)
    store.grow({"sku": ["p61"], "text": ["mug"]}, intent=PROMOTE)
    assert store.texts(["p61", "cart:today"]) == ["mug", None]
    assert len(store.predict().nodes) == 62
    row = {"text": "felt", "edges": [{"type": "product:in:cart", "target": "cart:c0"}]}
    assert store.predict(rows=[row]).classes == ["hats"]


def test_sync_refuses_to_lose_a_type_with_features(tmp_path: Path) -> None:
    carts = {"cart": [f"c{i}" for i in range(15)], "note": ["red"] * 15}
    everything = {**nodes(), "cart": carts}
    key = {"product": "sku", "cart": "cart"}
    options: dict[str, Any] = {"key": key, "text": ["text", "cart:note"], "min_documents": 1}
    labels = {"sku": ["p0", "p1", "p3", "p4"], "label": [NAMES[i] for i in (0, 1, 0, 1)]}
    read = read_tables(everything, edges(), labels, **options)
    assert read.labels is not None
    made = Store.init(tmp_path / "carts", read.graph, read.labels, tables={"key": key})
    with pytest.raises(StoreError, match=r"cart have features.* \(--nodes cart=TABLE\)"):
        made.sync(nodes(), intent=PROMOTE)
    made.sync(everything, intent=PROMOTE)
    assert made.graph().num_nodes == read.graph.num_nodes


def test_sync_takes_tables_of_all_types(store: Store) -> None:
    before = store.graph()
    store.sync(nodes(59), intent=PROMOTE)
    after = store.graph()
    assert set(before.keys_of(before.rows)) - set(after.keys_of(after.rows)) == {"p59"}
    (lost,) = before.degrees(before.rows_of(["p59"]))
    assert after.edge_counts["product:in:cart"] == before.edge_counts["product:in:cart"] - lost
    assert after.degrees(after.rows_of(["cart:c0"])) == before.degrees(before.rows_of(["cart:c0"]))
    store.sync(nodes(), edges(), intent=PROMOTE)
    with pytest.raises(ParameterError, match="made from tables of the node types"):
        store.sync(nodes()["product"], False)
    with pytest.raises(GateError):
        store.sync(nodes(), edges(30))
    store.sync(nodes(59), edges(59), intent=PROMOTE)
    graph = store.state().graph
    assert "p59" not in graph.keys_of(graph.rows)


def test_purge_takes_nodes_of_any_type(store: Store) -> None:
    store.purge(["p59", "cart:c12"], intent=Intent(note="asked for"))
    graph = store.state().graph
    assert not {"p59", "cart:c12"} & set(graph.keys_of(graph.rows))
    assert len(store.predict().nodes) == 59


def test_refit_with_another_encoder_keeps_types(store: Store) -> None:
    before = store.state().graph
    store.refit(encoder="tfidf", nodes=nodes()["product"], intent=PROMOTE)
    after = store.state().graph
    assert after.node_types == before.node_types
    assert abs(after.features(after.rows) - before.features(before.rows)).max() < 1e-6
    assert store.texts(["p0", "cart:c0"]) == ["felt wool", None]
