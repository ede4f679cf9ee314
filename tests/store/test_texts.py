"""What people read about nodes: kept beside the graph, carried along, and read when it is shown."""

from pathlib import Path

import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.errors import NodegraftError, ParameterError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.node_texts import LONGEST, NodeTexts
from tests.store.small import drawn, made

TITLES = {"a1": "A  felt\nhat", "a2": "Wool hat", "b1": "Läufer shoe", "b2": None}
NODES = pa.table(
    {"key": list(TITLES), "title": list(TITLES.values()), "more": ["red", None, "blue", None]}
)
MORE = pa.table({"key": ["c1"], "title": ["Felt boot"], "more": ["new"]})
TABLES = {"key": "key"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    tables = ng.read_tables(NODES, text=["title", "more"], min_documents=1)
    labels = {"hats": ["a1"], "shoes": ["b1"]}
    return Store.init(
        tmp_path / "s", tables.graph, labels, tables=TABLES, texts=tables.texts, method="sgc-mean"
    )


def test_columns_are_joined_and_blanks_collapsed(store: Store) -> None:
    assert store.texts(["b1", "a1", "a2", "b2"]) == [
        "Läufer shoe blue",
        "A felt hat red",
        "Wool hat",
        None,
    ]
    with pytest.raises(NodegraftError, match="not in this graph"):
        store.texts(["c1"])


def test_texts_follow_the_graph(store: Store) -> None:
    store.label({"hats": ["a2"]})
    assert store.history()[1].texts == store.history()[0].texts
    store.grow(MORE)
    assert store.texts(["c1", "a1"]) == ["Felt boot new", "A felt hat red"]
    today = pa.table(
        {"key": ["c1", "b1", "a1"], "title": ["Boot", "Shoe", "Hat"], "more": [""] * 3}
    )
    store.sync(today, intent=Intent(override="a test"))
    assert store.texts(["a1", "b1", "c1"]) == ["Hat", "Shoe", "Boot"]
    assert store.texts(["a1", "b2"], version=1) == ["A felt hat red", None]
    store.undo()
    assert store.texts(["a1"]) == ["A felt hat red"]


def test_answers_do_not_wait_for_texts(store: Store) -> None:
    for file in store.parts.states._objects.names_in([store.history()[0].names.all[-1]]):
        (store.place / "objects" / file).unlink()
    with Store.open(store.place) as other:
        assert other.predict(["a2"]).predictions == ["hats"]
        with pytest.raises(NodegraftError, match="is missing, which a version needs"):
            other.texts(["a2"])


def test_nodes_are_found_by_words(store: Store) -> None:
    assert store.search("HAT") == ["a1", "a2"]
    assert store.search("hat felt") == ["a1"]
    assert store.search("läuf b1") == ["b1"]
    assert store.search("hat", limit=1) == ["a1"]
    assert store.search("nothing") == []


def test_a_store_without_texts_has_none(tmp_path: Path) -> None:
    with made(tmp_path / "s")[0] as store:
        keys = store.graph().keys_of([0, 1])
        assert store.texts(keys) == [None, None]
        assert store.search(str(keys[0]), limit=1) == keys[:1]
        assert store.history()[0].names.all == (
            store.history()[0].graph,
            store.history()[0].labels,
            store.history()[0].model,
        )


def test_texts_are_of_all_nodes(tmp_path: Path) -> None:
    graph, labels = drawn()
    with pytest.raises(ParameterError, match="2 texts were given for 240 nodes"):
        Store.init(tmp_path / "s", graph, labels, texts=NodeTexts.of(["a", "b"]))


def test_long_texts_are_cut_between_characters() -> None:
    (cut,) = NodeTexts.of(["ü" * 999]).at(drawn()[0].rows[:1])
    assert cut == "ü" * LONGEST
