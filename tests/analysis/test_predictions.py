"""Prediction tables: where a class comes from, unknown keys, and the store's world."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.analysis.predictions import found_rows, predict_in_blocks
from nodegraft.base.errors import ParameterError, UnknownNodeError
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.versions.audit import audit_entries
from tests.store.small import drawn, made


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with one label that the model contradicts."""
    graph, labels = drawn()
    names = sorted(labels)[:4]
    known = {name: labels[name][:20] for name in names}
    known[names[0]] = [*known[names[0]], labels[names[1]][20]]
    with Store.init(tmp_path / "store", graph, known, intent=Intent(author="tests")) as made_store:
        yield made_store


def contradicted(store: Store) -> tuple[Key, str, str | None]:
    """A node whose label and prediction differ, and both."""
    answers = store.predict()
    rows = zip(answers.nodes, answers.labels, answers.predictions, strict=True)
    return next(
        (node, label, predicted)
        for node, label, predicted in rows
        if label is not None and label != predicted
    )


def test_a_label_is_the_class_and_the_prediction_stands_beside_it(store: Store) -> None:
    node, label, predicted = contradicted(store)
    row = store.predict([node]).to_arrow().to_pylist()[0]
    assert (row["class"], row["label"], row["prediction"]) == (label, label, predicted)
    assert row["reason"] == "own_label"
    ignoring = store.predict([node], ignore_labels=True).to_arrow().to_pylist()[0]
    assert (ignoring["class"], ignoring["label"]) == (predicted, label)
    assert ignoring["reason"] == "prediction"


def test_a_table_has_the_three_numbers(store: Store) -> None:
    answers = store.predict(top=2)
    table = answers.to_arrow()
    assert table.column_names == [
        *("node", "class", "label", "prediction", "confidence", "probability", "known", "reason"),
        *("class_1", "probability_1", "class_2", "probability_2"),
    ]
    by_name = {name: table[name].to_numpy() for name in ("confidence", "probability", "known")}
    product = by_name["probability"] * by_name["known"]
    np.testing.assert_array_equal(by_name["confidence"], product)
    model = store.state().model.predict_table(store.graph(), answers.nodes)
    np.testing.assert_array_equal(by_name["confidence"], model.confidence)


def test_reasons_tell_unknown_keys_from_low_confidence(store: Store) -> None:
    everything = store.predict()
    free = everything.nodes[everything.labels.index(None)]
    answers = store.predict(["nowhere", free, -5], missing="null", min_confidence=1.0)
    assert answers.reasons == ["unknown_key", "below_confidence", "unknown_key"]
    assert answers.classes == answers.predictions == [None, None, None]
    rows = answers.to_arrow().to_pylist()
    assert rows[0]["node"] == "nowhere"
    assert rows[0]["confidence"] is rows[0]["known"] is rows[0]["class_1"] is None
    assert rows[1]["class_1"] in answers.names
    assert answers.to_rows()[0]["top"] == []
    assert answers.to_rows()[0]["confidence"] is None
    skipped = store.predict(["nowhere", free], missing="skip")
    assert skipped.nodes == [free]
    with pytest.raises(UnknownNodeError, match="'nowhere', 'nobody'"):
        store.predict(["nowhere", free, "nobody"])
    with pytest.raises(ParameterError, match="missing must be"):
        store.predict([free], missing="other")  # type: ignore[arg-type]
    assert store.predict(["nowhere"], missing="skip").to_arrow().num_rows == 0
    assert store.predict(["nowhere"], missing="null").to_arrow().num_rows == 1


def test_held_out_checks_use_predictions(store: Store) -> None:
    node, label, _ = contradicted(store)
    assert store.score({label: [node]}) == 0.0
    assert store.confusion_matrix({label: [node]}).counts.trace() == 0


def test_the_world_decides_confidence_and_no_class(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store", method="graft")
    with store:
        before, objects = store.predict(), store.version()
        assert (store.world, before.world) == ("open", "open")
        assert (before.known < 0.99).any()
        store.set_setting("world", "closed", intent=Intent(author="ada", note="all are labelled"))
        after = store.predict()
        assert after.predictions == before.predictions
        np.testing.assert_array_equal(after.confidence, before.probability)
        np.testing.assert_array_equal(after.known, before.known)
        assert store.version() == objects
        with store.parts.journal.connection() as connection:
            (entry,) = audit_entries(connection)
        assert (entry.by, entry.note) == ("ada", "all are labelled")
        assert entry.detail == {"name": "world", "before": None, "after": "closed"}
        store.set_setting("world", "closed")
        with store.parts.journal.connection() as connection:
            assert len(audit_entries(connection)) == 1
        with pytest.raises(ParameterError, match="world must be open or closed"):
            store.set_setting("world", "half")
        assert store.card().world == "closed"
    with Store.open(tmp_path / "store") as again:
        assert (again.world, again.predict().world) == ("closed", "closed")
        again.set_setting("world", "open")
        np.testing.assert_array_equal(again.predict().confidence, before.confidence)


def test_a_store_is_made_in_a_closed_world(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store", method="graft", world="closed")
    with store:
        assert (store.world, store.state().model.world) == ("closed", "closed")
        store.add(new)
        answers = store.predict(version=2)
        np.testing.assert_array_equal(answers.confidence, answers.probability)
    by_parameter, _ = made(tmp_path / "other", method="graft", parameters={"world": "closed"})
    with by_parameter:
        assert by_parameter.world == "closed"
    with pytest.raises(ParameterError, match="world must be"):
        made(tmp_path / "third", world="half")
    assert not (tmp_path / "third").exists()


def test_a_method_without_an_open_set_score_is_closed_in_any_store(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store")
    with store:
        assert store.card().world == store.predict().world == "closed"
        assert store.world == store.setting("world") == "closed"
        assert {one.name: one.value for one in store.settings()}["world"] == "closed"
        with pytest.raises(ParameterError, match="sgc-mean has no open-set score"):
            store.set_setting("world", "open")
        assert store.settings_history() == []
    with pytest.raises(ParameterError, match="sgc-mean has no open-set score"):
        made(tmp_path / "other", world="open")
    assert not (tmp_path / "other").exists()


def test_all_blocks_of_a_table_have_the_same_key_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = made(tmp_path / "store")
    monkeypatch.setattr("nodegraft.analysis.predictions.rows_in_block", lambda _: 2)
    with store:
        state, graph = store.state(), store.graph()
        own = "string" if graph.has_text_keys else "int64"
        first = graph.keys_of([0])[0]
        other: Key = 7 if graph.has_text_keys else "7"
        batches: list[tuple[list[Any], str]] = [
            ([], own),
            ([None, None, first], own),
            ([first, first, other, 1 << 70], "string"),
        ]
        for keys, wanted in batches:
            rows, listed = found_rows(graph, keys, "null")
            blocks = list(predict_in_blocks(state, rows, 1, keys=listed))
            assert {str(block.to_arrow().schema.field("node").type) for block in blocks} == {wanted}
            table = store.predict(keys, missing="null").to_arrow()
            assert str(table.schema.field("node").type) == wanted


def test_labels_of_the_wrong_key_type_are_refused_as_classes_are(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store")
    with store:
        name = next(iter(store.state().labels))
        is_text = store.graph().has_text_keys
        other: Key = 7 if is_text else "7"
        wanted = f"keys of this graph are of type {'text' if is_text else 'integer'}"
        with pytest.raises(UnknownNodeError, match=wanted):
            store.label({name: [other]})
        with pytest.raises(UnknownNodeError, match=wanted):
            store.add({"new": [other]})


def test_prediction_sets_are_calibrated_on_held_out_labels(store: Store) -> None:
    answers = store.predict(coverage=0.9)
    held_out = store.state().labels.held_out
    assert {
        name: found.size for name, found in store.state().set_calibration.probabilities.items()
    } == {name: len(keys) for name, keys in held_out.items()}
    assert answers.sets is not None
    likeliest = zip(answers.top, answers.sets, strict=True)
    assert all(found[0] == best[0] for best, found in likeliest if found)
    rows = answers.to_arrow().to_pylist()
    assert [row["set"] for row in rows] == [list(found) for found in answers.sets]
    assert answers.to_rows()[0]["set"] == rows[0]["set"]
    assert "about 90 %" in (answers.sets_note or "")
    without = store.predict()
    assert without.sets is None
    assert without.sets_note is None
    assert without.to_rows()[0]["set"] is None
    assert "set" not in without.to_arrow().column_names


def test_prediction_sets_are_calibrated_once_in_either_world(store: Store) -> None:
    first = store.state().set_calibration
    store.set_setting("world", "closed")
    assert store.state().set_calibration is first
    assert store.state().set_calibration is first


def test_prediction_sets_of_unknown_keys_are_empty(store: Store) -> None:
    sets = store.predict(["nowhere", 0], missing="null", coverage=0.9).sets
    assert sets is not None
    assert sets[0] == ()
    assert sets[1]
    with pytest.raises(ParameterError, match="coverage"):
        store.predict([0], coverage=1.0)


def test_prediction_sets_of_a_new_class_come_from_its_own_labels(tmp_path: Path) -> None:
    with made(tmp_path / "store", method="graft")[0] as small:
        _, labels = drawn()
        name = sorted(labels)[-1]
        small.add({name: labels[name][:5]})
        calibration = small.state(small.newest).set_calibration
        assert calibration.probabilities[name].size == 5
        shown = small.predict(labels[name][5:], version=small.newest, coverage=0.8)
        assert shown.sets is not None
        assert np.mean([name in found for found in shown.sets]) > 0.6
