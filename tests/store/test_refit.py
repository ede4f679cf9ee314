"""A method of a store that is fitted again: what stays, what comes back, and when it may pay."""

from pathlib import Path

import numpy as np
import pytest

from nodegraft.analysis.snapshot import State, first_state
from nodegraft.base.errors import GateError, StoreError, UnreadableModelError
from nodegraft.cli.render.versions import version_line
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import drawn, made, with_unreadable_model


def started(place: Path) -> tuple[Store, dict[str, list[int | str]]]:
    """A store of graft with five labels a class, and all labels there are."""
    graph, labels = drawn(classes=4)
    return Store.init(place, graph, {name: keys[:5] for name, keys in labels.items()}), labels


def newest(store: Store) -> State:
    """The candidate, whoever answers."""
    return store.state(store.version().number)


def test_a_refit_equals_a_store_that_began_with_the_same_labels(tmp_path: Path) -> None:
    store, labels = started(tmp_path / "small")
    many = {name: keys[5:9] for name, keys in labels.items()}
    store.label(many)
    grown = newest(store)
    store.refit()
    graph, _ = drawn(classes=4)
    # Nine labels a class: none is held out, so both are taught by the same.
    began = {name: keys[:9] for name, keys in labels.items()}
    whole = newest(Store.init(tmp_path / "large", graph, began))
    again = newest(store)
    assert again.labels == grown.labels
    rows = again.graph.rows
    fitted = again.model.score_rows(again.graph, rows)
    np.testing.assert_array_equal(fitted, whole.model.score_rows(whole.graph, rows))
    assert np.abs(fitted - grown.model.score_rows(grown.graph, rows)).max() > 0


def test_an_undone_refit_leaves_the_model_as_it_was(tmp_path: Path) -> None:
    store, labels = started(tmp_path / "store")
    store.label({name: keys[5:9] for name, keys in labels.items()})
    before = store.version()
    store.refit()
    assert store.version().names != before.names
    store.undo()
    assert store.version().names == before.names


def test_older_changes_are_undone_beneath_a_refit(tmp_path: Path) -> None:
    store, labels = started(tmp_path / "store")
    name = next(iter(labels))
    store.label({name: labels[name][5:7]})
    store.refit()
    store.undo(2)
    assert len(newest(store).labels[name].all) == 5
    with pytest.raises(StoreError, match="cannot be undone by itself"):
        store.undo(3)


def test_classes_that_came_later_stay_later(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store", method="graft")
    store.add(new)
    store.refit()
    sessions = {one.name: one.session for one in newest(store).model._table.classes}
    assert {sessions[name] for name in new} == {1}


def test_whether_another_fit_may_pay_follows_what_was_fitted(tmp_path: Path) -> None:
    store, labels = started(tmp_path / "store")
    assert (store.last_fit().labels, store.last_fit().labels_now) == (20, 20)
    store.label({name: keys[5:9] for name, keys in labels.items()})
    assert not store.last_fit().is_dated
    more = {name: keys[9:12] for name, keys in labels.items()}
    store.label(more)
    # From ten labels of a class on, a fifth of them is held out.
    assert store.last_fit().labels_now == newest(store).labels.num_training < 48
    store.refit()
    fit = store.last_fit()
    assert fit.labels == fit.labels_now
    store.undo()
    assert store.last_fit().labels == 20


def test_other_methods_are_fitted_on_all_labels(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store")
    store.add(new)
    store.refit()
    after = newest(store)
    fresh = first_state(after.graph, after.labels, "sgc-mean", {})
    rows = after.graph.rows
    np.testing.assert_array_equal(
        after.model.score_rows(after.graph, rows), fresh.model.score_rows(after.graph, rows)
    )


def test_a_model_that_cannot_be_read_is_learned_again_from_its_labels(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store", method="graft")
    store.add(new, intent=Intent(promote=True))
    before = newest(store)
    store = with_unreadable_model(store)
    with pytest.raises(UnreadableModelError, match=r"lacks confidence_.*nodegraft refit"):
        store.predict()
    version = store.refit(intent=Intent(promote=True))
    assert (version.number, store.live) == (3, 3)
    after = newest(store)
    assert after.labels == before.labels
    # All labels are practised on now, where the first fit knew those of the first classes only.
    fresh = first_state(after.graph, after.labels, "graft", {})
    fresh.model.set_labels(after.graph, after.labels.training, after.labels.sessions)
    rows = before.graph.rows
    np.testing.assert_array_equal(
        after.model.score_rows(after.graph, rows), fresh.model.score_rows(after.graph, rows)
    )
    with pytest.raises(StoreError, match="cannot read the model of version 2"):
        store.undo()
    # Beneath it only labels of older versions are needed.
    store.undo(2)
    assert {*newest(store).labels} == {*before.labels} - {*new}


def test_what_was_written_down_speaks_for_a_model_that_cannot_be_read(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store", method="graft")
    told = store.version().measures["after"]
    store = with_unreadable_model(store, words=False, ridge=False, diffusion=False, hops=0)
    with pytest.raises(GateError, match="Held-out accuracy would drop"):
        store.refit()
    version = store.refit(intent=Intent(override="no other way"))
    assert version.measures["override"] == "no other way"
    assert version.measures["before"] == told
    assert version.measures["after"]["asked"] == told["asked"]
    assert version.measures["after"]["accuracy"] < told["accuracy"]
    said = version_line(version, live=1).plain
    assert "can no longer be read; its held-out accuracy was 100.0 %" in said


def test_where_nothing_was_written_down_a_refit_is_not_held_against_it(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store", method="graft")
    first, second = new
    store.add({first: new[first]})
    store.add({second: new[second]})
    store.undo(2)
    store.add({first: new[first]})
    store.undo()
    assert store.version().measures == {"after": {}}
    version = with_unreadable_model(store).refit()
    assert version.measures["before"]["accuracy"] is None
