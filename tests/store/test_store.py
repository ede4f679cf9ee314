from pathlib import Path

import numpy as np
import pytest

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import Version
from nodegraft.base.errors import GateError, StoreError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import drawn, made


def objects_of(version: Version) -> tuple[str, str, str]:
    return version.graph, version.labels, version.model


def test_the_first_version_answers(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s")
    assert (store.newest, store.live) == (1, 1)
    first = store.history()[0]
    assert (first.action, first.by, first.parent) == ("init", "tests", None)
    assert first.measures["after"]["accuracy"] > 0.5
    assert set(store.predict(version=1).predictions) <= set(store.state().labels)


@pytest.mark.parametrize("method", ["graft", "sgc-mean", "proto-gcn"])
def test_a_class_comes_and_goes_without_a_trace(method: str, tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method=method)
    added = store.add(new, intent=Intent(note="a new shelf"))
    assert (added.number, added.parent, added.note) == (2, 1, "a new shelf")
    name, nodes = next(iter(new.items()))
    assert store.predict(nodes, version=2).predictions.count(name) >= 4
    undone = store.undo()
    assert objects_of(undone) == objects_of(store.history()[0])
    again = store.add(new)
    assert again.labels == added.labels
    assert method == "proto-gcn" or again.model == added.model


def test_only_promotion_changes_who_answers(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    store.add(new)
    assert (store.newest, store.live) == (2, 1)
    assert set(store.predict().predictions).isdisjoint(new)
    store.promote(intent=Intent(author="anna", note="looks right"))
    assert store.live == 2
    with pytest.raises(StoreError, match="No candidate version waits"):
        store.promote()
    store.rollback()
    assert store.live == 1
    with pytest.raises(StoreError, match="none to roll back to"):
        store.rollback()
    assert [move.action for move in store.promotions()] == ["init", "promote", "rollback"]


def test_another_process_sees_the_same(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method="graft")
    store.add(new)
    wanted = store.predict(version=2, top=3)
    store.close()
    with Store.open(tmp_path / "s") as other:
        found = other.predict(version=2, top=3)
    assert found.classes == wanted.classes
    np.testing.assert_array_equal(found.probabilities, wanted.probabilities)


def test_a_preview_changes_nothing_and_says_what_will_come(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    seen = store.preview(Change("add", {"classes": new}))
    assert store.newest == 1
    assert seen.flipped > 0
    assert next(iter(seen.flips))[1] in new
    assert store.add(new).measures["flipped"] == seen.flipped
    assert store.diff(1, 2) == seen


def test_an_older_change_is_undone_by_itself(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method="graft")
    (first, nodes), (second, others) = new.items()
    store.add({first: nodes})
    store.add({second: others})
    store.undo(2)
    assert first not in store.state(4).labels
    alone, _ = made(tmp_path / "alone", method="graft")
    alone.add({second: others})
    kept, wanted = store.state(4), alone.state(2)
    assert kept.labels[second].training == wanted.labels[second].training
    rows = kept.graph.rows
    np.testing.assert_array_equal(
        kept.model.score_rows(kept.graph, rows), wanted.model.score_rows(wanted.graph, rows)
    )


def test_changes_undone_one_by_one_restore_the_models(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    one, other = new
    store.add({one: new[one]})
    store.merge(["class-00", one], into=other)
    store.remove(["class-01"])
    # The model of a `sgc-mean` depends on the order in which classes came and went.
    for number in (4, 3, 2):
        assert store.undo(number).names == store.version(number - 1).names


def test_what_others_build_on_is_not_undone(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    name, nodes = next(iter(new.items()))
    store.add({name: nodes[:3]})
    store.label({name: nodes[3:]})
    with pytest.raises(StoreError, match=r"version 3 \(label\) builds on it"):
        store.undo(2)
    with pytest.raises(StoreError, match="first"):
        store.undo(1)
    with pytest.raises(StoreError, match="no version 9"):
        store.undo(9)
    assert store.newest == 3


def test_classes_are_renamed_merged_split_and_removed(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s")
    one, two, three, four = store.state().labels
    store.rename(one, "first")
    store.merge([two, three], "both")
    some = store.state(3).labels["both"].training
    store.split("both", {"left": some[:8], "right": some[8:]}, intent=Intent(override="a test"))
    store.remove([four])
    assert set(store.state(5).labels) == {"first", "left", "right"}
    assert store.state(5).model.classes_ == tuple(store.state(5).labels)
    assert store.history()[3].measures["override"] == "a test"


def test_the_gate_refuses_a_class_of_two_classes(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="graft")
    everything, labelled = drawn()[1], store.state().labels.owners()
    one, two = (
        [key for key in everything[name] if key not in labelled]
        for name in ("class-00", "class-01")
    )
    with pytest.raises(GateError, match="Check that they belong to one class"):
        store.add({"poison": [*one[:3], *two[:3]]})
    assert store.newest == 1


def test_a_folder_that_is_something_else_is_left_alone(tmp_path: Path) -> None:
    graph, labels = drawn()
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(StoreError, match="already exists"):
        Store.init(tmp_path, graph, labels)
    with pytest.raises(StoreError, match="is not a store"):
        Store.open(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", '{"format": 9, "database": null}', "{"])
def test_settings_that_say_nothing_are_told(content: str, tmp_path: Path) -> None:
    made(tmp_path / "s")
    settings = tmp_path / "s" / "store.json"
    settings.chmod(0o644)
    settings.write_text(content)
    with pytest.raises(StoreError, match=r"store\.json|format"):
        Store.open(tmp_path / "s")


def test_two_that_teach_at_once_do_not_lose_an_update(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    (first, nodes), (second, others) = new.items()
    with Store.open(tmp_path / "s") as other:
        parent = other.parts.journal.version()
        store.add({first: nodes}, intent=Intent(author="anna"))
        # The other one has looked before the first one wrote.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(other.parts.journal, "version", lambda number=None: parent)
            with pytest.raises(StoreError, match="has changed meanwhile"):
                other.add({second: others})
        other.add({second: others})
        assert set(new) <= set(other.state(3).labels)


def test_what_must_be_fitted_again_is_known_before(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store")
    assert store.fit_needed(Change("add", {"classes": new})) is None
    known = next(iter(store.state().labels))
    cost = store.fit_needed(Change("remove", {"names": [known]}))
    assert cost is not None
    assert cost.method == "sgc-mean"
    assert cost.labels == sum(map(len, store.state().labels.training.values())) - 16
