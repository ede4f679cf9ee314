from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.analysis.version import describe_version
from nodegraft.base.errors import NodegraftError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store

WORDS = {"hats": "felt brim wool cap", "shoes": "sole lace heel leather"}
NODES = pa.table(
    {
        "id": [f"{name}{number}" for name in WORDS for number in range(20)],
        "text": [f"{text} item{number % 7}" for text in WORDS.values() for number in range(20)],
    }
)
EDGES = pa.table(
    {
        "from": [f"{name}{number}" for name in WORDS for number in range(19)],
        "to": [f"{name}{number + 1}" for name in WORDS for number in range(19)],
    }
)
TABLES = {"key": "id", "source": "from", "target": "to"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    graph = ng.read_graph(NODES, EDGES, text="text", min_documents=1, **TABLES)
    labels = {name: [f"{name}{number}" for number in range(10)] for name in WORDS}
    return Store.init(tmp_path / "s", graph, labels, tables=TABLES)


def test_new_nodes_are_answered_about_and_the_old_version_stays(store: Store) -> None:
    new = pa.table({"id": ["hats99"], "text": ["felt brim wool"]})
    grown = store.grow(
        new, pa.table({"from": ["hats99"], "to": ["hats3"]}), intent=Intent(note="Tuesday")
    )
    assert (grown.action, grown.detail["added"], grown.detail["edges_added"]) == ("grow", 1, 1)
    assert grown.detail["changed"] == grown.detail["removed"] == 0
    assert describe_version(grown) == "grow: 1 node added, 1 edge added"
    assert (grown.labels, grown.model) == (store.history()[0].labels, store.history()[0].model)
    assert store.predict(["hats99"], version=2).predictions == ["hats"]
    with pytest.raises(NodegraftError, match="not in this graph"):
        store.predict(["hats99"])
    assert store.undo().graph == store.history()[0].graph


def test_a_class_of_nodes_that_came_with_it_is_compared(store: Store) -> None:
    rows = [{"id": f"socks{number}", "text": "cotton ankle pair"} for number in range(3)]
    store.grow(pa.Table.from_pylist(rows))
    store.add({"socks": [row["id"] for row in rows]})
    store.add({"caps": ["hats15", "hats16"]}, intent=Intent(override="a test"))
    diff = store.diff(1, 4)
    # The model before can check only those examples that its graph has.
    assert (diff.new.totals, list(diff.prior)) == ({"caps": 2}, ["caps"])
    assert store.diff(2, 3).new.totals == {"socks": 3}


def test_labels_are_undone_below_a_graph_that_has_grown(store: Store) -> None:
    store.add({"caps": ["hats15", "hats16"]}, intent=Intent(override="a test"))
    store.grow(pa.table({"id": ["hats99"], "text": ["felt brim wool"]}))
    undone = store.undo(2)
    assert undone.graph == store.history()[2].graph
    assert "caps" not in store.state(4).labels
    with pytest.raises(StoreError, match="cannot be applied again"):
        store.undo(3)


def test_whole_tables_are_compared_by_key(store: Store) -> None:
    kept = [row for row in NODES.to_pylist() if row["id"] not in ("hats0", "shoes15")]
    kept[3] = {**kept[3], "text": "sole lace"}
    nodes = pa.Table.from_pylist([*kept[::-1], {"id": "new", "text": "heel leather"}])
    edges = pa.Table.from_pylist(
        [row for row in EDGES.to_pylist() if not {"hats0", "shoes15"} & set(row.values())]
    )
    synced = store.sync(nodes, edges)
    assert synced.detail == {
        "added": 1,
        "removed": 2,
        "changed": 1,
        "edges_added": 0,
        "edges_removed": 3,
        "labels_lost": 1,
    }
    state = store.state(2)
    assert "hats0" not in state.labels.owners()
    assert state.graph.num_nodes == 39
    assert store.predict(["new"], version=2).predictions == ["shoes"]
    assert store.undo().labels == store.history()[0].labels


def test_tables_as_they_were_change_nothing(store: Store) -> None:
    same = store.sync(NODES, EDGES)
    assert set(same.detail.values()) == {0}
    assert same.graph == store.history()[0].graph
    assert same.measures["flipped"] == 0
    assert describe_version(same) == "sync: nothing new"


def test_a_class_cannot_go_with_its_nodes_unseen(store: Store) -> None:
    hats = pa.Table.from_pylist([row for row in NODES.to_pylist() if row["id"][0] == "h"])
    with pytest.raises(StoreError, match="use `remove`"):
        store.sync(hats, intent=Intent(override="a test"))
    with pytest.raises(StoreError, match="No table was given"):
        store.grow()
    assert store.newest == 1


def test_what_grew_is_what_was_read_at_once(store: Store) -> None:
    half = {f"shoes{number}" for number in range(10, 20)}
    first = pa.Table.from_pylist([row for row in NODES.to_pylist() if row["id"] not in half])
    rest = pa.Table.from_pylist([row for row in NODES.to_pylist() if row["id"] in half])
    store.sync(
        first,
        pa.Table.from_pylist([r for r in EDGES.to_pylist() if not half & {*r.values()}]),
        intent=Intent(override="a test"),
    )
    store.grow(rest, pa.Table.from_pylist([r for r in EDGES.to_pylist() if half & {*r.values()}]))
    whole, parts = store.state(1), store.state(3)
    keys = whole.graph.keys_of(whole.graph.rows)
    found, wanted = (one.model.predict_proba(one.graph, keys) for one in (parts, whole))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
