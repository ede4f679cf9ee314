"""Renamed, merged and split classes: only predictions that really change count."""

from pathlib import Path

import numpy as np
import pytest

from nodegraft.analysis.labels.changes import Change, ClassSuccession
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store.small import drawn, made

METHODS = ("graft", "sgc-mean", "proto-gcn", "hag-meta")


def held_out(store: Store, version: int) -> set[object]:
    labels = store.state(version).labels.held_out
    return {key for keys in labels.values() for key in keys}


@pytest.mark.parametrize("method", METHODS)
def test_a_renamed_class_changes_no_prediction(method: str, tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method=method)
    store.add(new, intent=Intent(override="a test"))
    change = Change("rename", {"old": "class-00", "new": "first"})
    assert store.fit_needed(change) is None
    seen = store.preview(change)
    assert (seen.flipped, seen.flips, seen.warnings()) == (0, {}, [])
    # The model's name of the class was changed, so that the comparison can fail.
    assert "first" in store.rename("class-00", "first").measures["after"]["asked"]
    version = store.version()
    assert version.measures["flipped"] == 0
    before, after = version.measures["before"], version.measures["after"]
    assert before == after
    assert sum(after["asked"].values()) == len(held_out(store, 2)) == 16
    assert held_out(store, 3) == held_out(store, 2)
    one, other = store.state(2), store.state(3)
    rows = one.graph.rows
    # graft adds up classes in the order of their names, so the last bits may differ.
    np.testing.assert_allclose(
        one.model.score_rows(one.graph, rows),
        other.model.score_rows(other.graph, rows),
        atol=1e-9 if method == "graft" else 0.0,
        rtol=0.0,
    )
    assert store.diff(2, 3) == seen
    undone = store.undo()
    assert undone.names == store.history()[1].names
    with Store.open(store.place) as again:
        assert "first" in set(again.predict(version=3).predictions)


def test_merging_counts_real_changes_alone(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="graft")
    version = store.merge(["class-00", "class-01"], "both")
    assert held_out(store, 2) == held_out(store, 1)
    asked = version.measures["after"]["asked"]
    assert asked == version.measures["before"]["asked"]
    assert (asked["both"], sum(asked.values())) == (8, 16)
    old, new = (store.predict(version=number).predictions for number in (1, 2))
    names: dict[str | None, str | None] = {"class-00": "both", "class-01": "both"}
    real = sum(names.get(one, one) != two for one, two in zip(old, new, strict=True))
    assert version.measures["flipped"] == real < 60
    assert store.undo().names == store.history()[0].names
    # Into the name of one of them.
    version = store.merge(["class-00", "class-01"], "class-00")
    assert version.measures["flipped"] == real
    assert version.measures["after"]["asked"]["class-00"] == 8


def test_parts_of_a_split_class_are_counted_apart(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="graft")
    store.merge(["class-00", "class-01"], "both")
    labels = store.state(1).labels
    parts = {"left": list(labels["class-00"].all), "right": list(labels["class-01"].all)}
    seen = store.preview(Change("split", {"name": "both", "parts": parts}))
    assert not any(old == "both" and new in parts for old, new in seen.flips)
    assert set(seen.parts) == {("both", "left"), ("both", "right")}
    assert sum(seen.parts.values()) > 60
    # Both parts count as right for a node of either, as before.
    # All that were held out are compared: a split draws nothing.
    assert seen.before.totals["both"] == 8
    assert seen.before.totals == seen.after.totals
    assert seen.objections() == []
    assert store.split("both", parts).measures["flipped"] == seen.flipped
    # Parts that are taught by other nodes continue the class, too.
    everything, taken = drawn()[1], store.state(2).labels.owners()
    fresh = {
        part: [key for key in everything[name] if key not in taken][:4]
        for part, name in (("left", "class-00"), ("right", "class-01"))
    }
    store.undo()
    seen = store.preview(Change("split", {"name": "both", "parts": fresh}))
    assert not any(old == "both" and new in fresh for old, new in seen.flips)


def test_succession_follows_the_labels() -> None:
    labels = StoreLabels().added({"a": range(4), "b": range(4, 8), "c": range(8, 12)})
    names = ClassSuccession.between(labels, labels.renamed("a", "x"))
    assert names.of("a") == {"x"}
    assert names.of("b") == {"b"}
    assert ClassSuccession.between(labels, labels.merged(["a", "b"], "b")).of("a") == {"b"}
    split = ClassSuccession.between(labels, labels.split("a", {"x": [0], "y": [1, 20]}))
    assert split.is_split("a")
    removed = labels.removed(["a"])
    assert ClassSuccession.between(labels, removed).of("a") == {"a"}
    # Some of its nodes were given to a class that was there already: it is gone all the same.
    assert ClassSuccession.between(labels, removed.labelled({"b": [0]})).of("a") == {"a"}
