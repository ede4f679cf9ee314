"""What a model card says, as data."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.errors import StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import drawn, made


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Four classes with 16 labels that teach and 4 held out, and two with five."""
    store, new = made(tmp_path / "store")
    store.add(new, intent=Intent(note="two more", author="anna", override="it is a test"))
    return store


def test_it_says_what_was_taught_and_what_is_answered_rightly(store: Store) -> None:
    card, state = store.card(2), store.state(2)
    assert (card.version, card.method, card.parameters) == (2, "sgc-mean", state.model.get_params())
    assert [one.name for one in card.classes] == list(state.labels)
    assert [one.labels for one in card.classes] == [16] * 4 + [5] * 2
    assert card.unmeasured == [one.name for one in card.classes[-2:]]
    for one in card.classes[:4]:
        held_out = state.labels[one.name].held_out
        answers = state.model.predict(state.graph, held_out)
        assert (one.held_out.total, one.held_out.right) == (4, answers.count(one.name))
    assert card.held_out.total == 16
    assert card.held_out.right == sum(one.held_out.right for one in card.classes)
    low, high = card.held_out.interval or (0.0, 0.0)
    assert 0.0 < low < (card.held_out.share or 0.0) < high <= 1.0


def test_it_says_what_the_graph_is_and_since_when(tmp_path: Path) -> None:
    keys = [f"{name}{number}" for name in ("hat", "boot") for number in range(10)]
    nodes = pa.table({"key": keys, "text": [f"a {key[:3]} {key[-1]}" for key in keys]})
    # Two edges join the first two nodes: one of each type.
    kinds = ["like", "with"] * 10 + ["with"]
    ends = {"source": [*keys, keys[0]], "target": [*keys[1:], *keys[:2]]}
    edges = pa.table({**ends, "kind": kinds})
    graph = ng.read_graph(nodes, edges, text="text", edge_type="kind", min_documents=1)
    labels = {"hats": keys[:5], "boots": keys[10:15]}
    store = Store.init(tmp_path / "store", graph, labels, method="sgc-mean")
    store.grow(pa.table({"key": ["hat99"], "text": ["a hat"]}))
    store.rename("hats", "caps")
    card = store.card(3).graph
    assert (card.since, card.nodes, card.edges) == (2, 21, 21)
    assert (card.kinds, card.features) == ({"like": 10, "with": 11}, graph.num_features)
    assert store.card(1).graph.since == 1


def test_it_says_since_when_a_class_has_its_name(store: Store) -> None:
    store.rename("class-01", "caps")
    store.undo(intent=Intent(author="anna"))
    store.remove(["class-00"], intent=Intent(override="it is a test"))
    since = {one.name: one.since for one in store.card(5).classes}
    assert since == {"class-01": 4, "class-02": 1, "class-03": 1, "class-04": 2, "class-05": 2}
    assert {one.name: one.since for one in store.card(3).classes}["caps"] == 3


def test_it_says_who_did_what_and_why(store: Store) -> None:
    assert store.card(2).promotion is None
    store.promote(intent=Intent(author="ben", note="looks right"))
    store.rollback()
    store.promote(intent=Intent(author="carla"))
    store.rename("class-00", "later")
    card = store.card()
    assert [step.version for step in card.history] == [1, 2]
    last = card.history[-1]
    assert (last.what, last.by) == ("add class-04 (5), class-05 (5)", "anna")
    assert (last.note, last.override) == ("two more", "it is a test")
    assert last.held_out.share == store.history()[1].measures["after"]["accuracy"]
    assert [step.was_live for step in card.history] == [True, True]
    assert card.promotion is not None
    assert (card.promotion.by, card.promotion.note) == ("ben", "looks right")


def test_later_versions_do_not_change_it(store: Store) -> None:
    store.promote()
    before = store.card(2).to_json()
    store.rename("class-00", "other")
    store.promote()
    assert store.card(2).to_json() == before


def test_confidence_is_that_of_predict(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store", method="graft")
    card, state = store.card(), store.state()
    owners = state.labels.owners()
    nodes = [key for keys in state.labels.held_out.values() for key in keys]
    assert card.reliability is not None
    for least, counted in card.reliability.items():
        given = store.predict(nodes, min_confidence=least).predictions
        right = [name == owners[key] for name, key in zip(given, nodes, strict=True) if name]
        assert (counted.total, counted.right) == (len(right), sum(right))


def test_without_calibrated_confidence_nothing_is_said_of_it(store: Store) -> None:
    assert store.card().reliability is None


def test_a_model_without_held_out_nodes_has_a_card(tmp_path: Path) -> None:
    graph, labels = drawn()
    few = {name: keys[:3] for name, keys in labels.items()}
    card = Store.init(tmp_path / "store", graph, few, method="sgc-mean").card()
    assert (card.held_out.total, card.held_out.share, card.held_out.interval) == (0, None, None)
    assert len(card.unmeasured) == len(card.classes) == 6


def test_it_is_plain_json(store: Store) -> None:
    store.promote(intent=Intent(note="looks right"))
    told = store.card().to_json()
    assert json.loads(json.dumps(told))["promotion"]["note"] == "looks right"
    assert told["classes"][0]["held_out"]["total"] == 4
    assert told["history"][1]["override"] == "it is a test"


def test_a_version_that_is_not_there_is_told(store: Store) -> None:
    with pytest.raises(StoreError, match="no version 7"):
        store.card(7)


def test_a_card_can_be_made_after_a_prune(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store")
    store.add(new, intent=Intent(override="a small store knows little"))
    store.undo()
    store.undo()
    store.promote()
    store.prune(keep=1)
    card = store.card()
    assert {one.name for one in card.classes} >= set(new)
    assert len(card.history) == 4
