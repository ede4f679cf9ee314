"""Tables that replace those of a store: what disappears is counted, shown and refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.errors import GateError, NodegraftError, ParameterError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.table_changes import TableChanges, TablePreview, TableSizes
from nodegraft.tables.disk.build import build_graph

WORDS = {"hats": "felt brim wool", "shoes": "sole lace heel", "lamps": "bulb shade glow"}
SIZE = 100
KEYS = [f"{name}{number}" for number in range(SIZE) for name in WORDS]
NODES = pa.table(
    {"id": KEYS, "text": [f"{WORDS[key.rstrip('0123456789')]} i{key[-1]}" for key in KEYS]}
)
EDGES = pa.table(
    {
        "from": KEYS[:-3] + KEYS[:30],
        "to": KEYS[3:] + KEYS[60:90],
        "kind": ["like"] * (len(KEYS) - 3) + ["cites"] * 30,
        "weight": [1.0 + number % 3 for number in range(len(KEYS) - 3)] + [2.5] * 30,
    }
)
TABLES: dict[str, Any] = {
    "key": "id",
    "source": "from",
    "target": "to",
    "edge_type": "kind",
    "edge_weight": "weight",
    "directed": ["cites"],
}
LABELS = {name: [f"{name}{number}" for number in range(50)] for name in WORDS}


def made(place: Path, *, mapped: bool = False, **options: Any) -> Store:
    if mapped:
        folder = place.with_name("graph")
        graph = build_graph(NODES, EDGES, folder, text="text", min_documents=1, **TABLES).graph
    else:
        graph = ng.read_graph(NODES, EDGES, text="text", min_documents=1, **TABLES)
    return Store.init(place, graph, LABELS, tables=TABLES, **options)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return made(tmp_path / "s")


def described(store: Store, version: int) -> dict[str, set[tuple[Any, ...]]]:
    """Edge type -> (source, target, weight, direction) of each entry, by key."""
    graph = store.graph(version)
    found = {}
    for kind in graph.relations:
        rows, columns, weights, directions = graph._store.adjacency(kind).entries()
        parts: list[list[Any]] = [graph.keys_of(rows), graph.keys_of(columns)]
        parts += [
            [None] * rows.size if values is None else values.tolist()
            for values in (weights, directions)
        ]
        found[kind] = set(zip(*parts, strict=True))
    return found


def test_a_truncated_export_does_not_go_live(tmp_path: Path) -> None:
    """The case of the trial: 300 of 2,500 rows, with rows of every class, and --promote."""
    keys = [f"{name}{number}" for number in range(834) for name in WORDS][:2500]
    texts = [WORDS[key.rstrip("0123456789")] for key in keys]
    nodes = pa.table({"id": keys, "text": texts})
    edges = pa.table({"source": keys[:-3], "target": keys[3:]})
    graph = ng.read_graph(nodes, edges, key="id", text="text", min_documents=1)
    labels = {name: [f"{name}{number}" for number in range(0, 800, 5)] for name in WORDS}
    store = Store.init(tmp_path / "s", graph, labels, tables={"key": "id"}, method="sgc-mean")
    truncated = nodes.slice(0, 300)
    with pytest.raises(GateError, match=r"2,200 of 2,500 nodes \(88\.0 %\)") as refused:
        store.sync(truncated, intent=Intent(promote=True))
    assert "420 of 480 labels (87.5 %)" in str(refused.value)
    assert "override=" in str(refused.value)
    assert "--override REASON" in str(refused.value)
    assert (store.newest, store.live) == (1, 1)
    with pytest.raises(StoreError, match=r"without promote=True \(--promote\)"):
        store.sync(truncated, intent=Intent(promote=True, override="the rest is sold"))
    made_version = store.sync(truncated, intent=Intent(override="the rest is sold"))
    assert made_version.measures["override"] == "the rest is sold"
    assert made_version.detail["removed"] == 2200
    assert (store.newest, store.live) == (2, 1)
    assert store.undo().names == store.history()[0].names


def test_a_version_that_no_held_out_node_can_check_does_not_go_live(store: Store) -> None:
    held_out = {key for keys in store.state().labels.held_out.values() for key in keys}
    rows = [row for row in NODES.to_pylist() if row["id"] not in held_out]
    left = pa.Table.from_pylist(rows)
    store.set_setting("max_removed_share", 0.5)
    with pytest.raises(
        GateError,
        match=r"No held-out node is left to measure accuracy; there were 30\. .*without promote",
    ):
        store.sync(left, intent=Intent(promote=True))
    assert (store.newest, store.live) == (1, 1)
    assert (store.sync(left).number, store.live) == (2, 1)
    store.undo()
    # Held-out nodes go with their classes, too.
    store.unlabel(
        [key for key in held_out if not str(key).startswith("hats")], intent=Intent(promote=True)
    )
    with pytest.raises(GateError, match=r"there were 10"):
        store.remove(["hats"], intent=Intent(promote=True))
    store.remove(["hats"])
    # Where nothing was held out before, nothing is missed.
    store.promote()
    assert store.label({"shoes": ["shoes60"]}, intent=Intent(promote=True)).number == store.live


def test_each_of_nodes_edges_and_labels_is_counted(store: Store) -> None:
    few_edges = EDGES.slice(127)
    with pytest.raises(GateError, match=r"^127 of 327 edges \(38\.8 %\) would be removed"):
        store.sync(NODES, few_edges)
    labelled = {f"hats{number}" for number in range(18)}
    rows = [row for row in NODES.to_pylist() if row["id"] not in labelled]
    # 18 of 300 nodes are few, and 18 of 150 labels are not; held-out ones are among them.
    assert labelled & {*store.state().labels["hats"].held_out}
    with pytest.raises(GateError, match=r"18 of 150 labels \(12\.0 %\)") as refused:
        store.sync(pa.Table.from_pylist(rows))
    assert "nodes (" not in str(refused.value)
    assert store.newest == 1


def test_the_limit_is_a_setting(store: Store) -> None:
    tenth = NODES.slice(0, 270)
    store.set_setting("max_removed_share", 0.05, intent=Intent(author="anna", note="be careful"))
    with pytest.raises(GateError, match="the limit is 5 %"):
        store.sync(tenth)
    store.set_setting("max_removed_share", "0.5")
    assert store.sync(tenth).detail["removed"] == 30


def test_exactly_the_limit_passes() -> None:
    for percent in range(101):
        for gone, refused in ((percent, 0), (percent + 1, 3)):
            changes = TableChanges(0, gone, 0, 0, gone, gone)
            sizes = TableSizes(100, 100, 100)
            seen = TablePreview(sizes, changes, {}, (), percent / 100)
            assert len(seen.removals()) == refused, percent


def test_a_reason_is_text_that_says_something(store: Store) -> None:
    few = NODES.slice(0, 200)
    attempts: list[Callable[[str], Any]] = [
        lambda reason: store.sync(few, intent=Intent(override=reason)),
        lambda reason: store.label({"hats": ["hats60"]}, intent=Intent(override=reason)),
        lambda reason: store.refit(intent=Intent(override=reason)),
    ]
    for attempt in attempts:
        for reason, message in ((" \t", "is blank"), ("a\0b", "NUL"), ("\ud800", "not valid text")):
            with pytest.raises(ParameterError, match=message):
                attempt(reason)
    assert store.newest == 1


def test_settings_are_listed_checked_and_audited(store: Store) -> None:
    (listed,) = [one for one in store.settings() if one.name == "max_removed_share"]
    assert (listed.value, listed.default) == (0.1, 0.1)
    assert store.settings_history() == []
    for wrong in (-0.1, 1.1, "much", float("nan"), None, True):
        with pytest.raises(NodegraftError, match="a number from 0 to 1"):
            store.set_setting("max_removed_share", wrong)
    with pytest.raises(NodegraftError, match="no setting 'max_share'"):
        store.set_setting("max_share", 0.5)
    assert (
        store.set_setting(
            "max_removed_share", 0.25, intent=Intent(author="anna", note="spring sale")
        )
        == 0.25
    )
    store.set_setting("max_removed_share", "0.3", intent=Intent(author="ben"))
    with Store.open(store.place) as other:
        assert other.setting("max_removed_share") == 0.3
        first, second = other.settings_history()
    assert (first.by, first.note) == ("anna", "spring sale")
    assert first.detail == {"name": "max_removed_share", "before": None, "after": 0.25}
    assert second.detail["before"] == 0.25


@pytest.mark.parametrize("mapped", [False, True])
def test_edges_stay_unless_they_are_removed_on_purpose(mapped: bool, tmp_path: Path) -> None:
    store = made(tmp_path / "s", mapped=mapped)
    gone = {"hats99", "shoes99", "hats0"}
    rows = [row for row in NODES.to_pylist() if row["id"] not in gone][::-1]
    rows.insert(7, {"id": "new", "text": "felt"})
    assert store.sync(pa.Table.from_pylist(rows)).number == 2
    before, after = described(store, 1), described(store, 2)
    assert set(after) == {"cites", "like"}
    for kind, entries in after.items():
        assert entries == {one for one in before[kind] if not gone & {one[0], one[1]}}
    assert store.graph().is_on_disk == mapped
    assert store.predict(["new"], version=2).predictions
    bare = store.sync(pa.Table.from_pylist(rows), False)
    assert store.graph().num_edges == 0
    assert bare.detail["edges_removed"] == sum(len(some) for some in after.values()) // 2


def test_tables_without_edges_that_did_not_change_change_nothing(store: Store) -> None:
    same = store.sync(NODES)
    assert set(same.detail.values()) == {0}
    assert same.graph == store.history()[0].graph


@pytest.mark.parametrize("mapped", [False, True])
def test_a_preview_says_what_a_sync_does_and_writes_nothing(mapped: bool, tmp_path: Path) -> None:
    store = made(tmp_path / "s", mapped=mapped)
    files = {file for file in store.place.rglob("*") if "derived" not in file.parts}
    today = pa.concat_tables([NODES.slice(6), pa.table({"id": ["new"], "text": ["felt brim"]})])
    seen = store.preview_sync(today)
    assert store.newest == 1
    assert {file for file in store.place.rglob("*") if "derived" not in file.parts} == files
    assert (seen.changes.added, seen.changes.removed) == (1, 6)
    assert seen.lost == dict.fromkeys(WORDS, 2)
    assert seen.objections() == []
    made_version = store.sync(today)
    assert made_version.detail == seen.changes.to_json()
    assert seen.predictions is not None
    assert made_version.measures["flipped"] == seen.predictions.flipped


def test_a_preview_shows_what_would_be_refused(store: Store) -> None:
    hats = pa.Table.from_pylist([row for row in NODES.to_pylist() if row["id"][0] == "h"])
    seen = store.preview_sync(hats)
    assert seen.without_labels == ("shoes", "lamps")
    assert seen.lost == {"shoes": 50, "lamps": 50}
    assert seen.predictions is None
    told = " ".join(seen.objections())
    assert "200 of 300 nodes (66.7 %)" in told
    assert "'lamps' would have no training label left" in told
    assert store.newest == 1


@pytest.mark.parametrize("mapped", [False, True])
def test_a_preview_says_what_growing_does(mapped: bool, tmp_path: Path) -> None:
    store = made(tmp_path / "s", mapped=mapped)
    nodes = pa.table({"id": ["new"], "text": ["felt brim"]})
    edges = pa.table({"from": ["new"], "to": ["hats3"], "kind": ["like"], "weight": [1.0]})
    seen = store.preview_grow(nodes, edges)
    assert (seen.changes.added, seen.changes.edges_added, seen.changes.removed) == (1, 1, 0)
    assert seen.predictions is not None
    assert seen.predictions.num_compared == 300
    assert store.newest == 1
    assert "new" not in store.graph().node_keys.values()
    assert store.grow(nodes, edges).detail == seen.changes.to_json()
