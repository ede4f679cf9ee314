"""Parents of classes in a store: they are stored, changed, previewed and undone; scores are not."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import describe_version
from nodegraft.base.errors import ClassNameError, MissingColumnError, SimilarNameError, StoreError
from nodegraft.model.back_off import Ancestors, back_off
from nodegraft.model.class_tree import ClassTree
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.store import on_disk
from tests.store.small import drawn, made

TREE = {"class-00": "first", "class-01": "first", "first": "all"}


def parents_in(store: Store, version: int | None = None) -> dict[str, str]:
    """Return the parents that a version has on disk."""
    number = store.newest if version is None else version
    return dict(store.parts.states.labels(store.version(number).labels).tree)


@pytest.mark.parametrize("method", ["sgc-mean", "proto-gcn"])
def test_a_move_is_a_version_with_the_same_model(method: str, tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method=method)
    with store:
        first = store.version()
        assert store.fit_needed(Change("move", {"parents": TREE})) is None
        assert store.preview(Change("move", {"parents": TREE})).flipped == 0
        moved = store.move(TREE)
        assert (moved.graph, moved.model) == (first.graph, first.model)
        assert moved.labels != first.labels
        assert describe_version(moved) == "move class-00, class-01 below first; first below all"
    with Store.open(store.place) as again:
        assert parents_in(again) == TREE
        assert again.undo().names == first.names
        assert parents_in(again) == {}


def test_labels_without_parents_are_stored_as_before(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s")
    first = store.version()
    store.move(TREE)
    back = store.move(dict.fromkeys(TREE))
    assert back.labels == first.labels
    document = store.parts.objects.document(first.labels)
    assert (document["schema"], set(document)) == (1, {"kind", "schema", "sessions"})
    # Releases that know no parents refuse these labels instead of ignoring the parents.
    assert store.parts.objects.document(store.version(2).labels)["schema"] == 2


def test_a_table_gives_the_parents(tmp_path: Path) -> None:
    table = tmp_path / "classes.csv"
    table.write_text("class,parent\nclass-00, first\nclass-01,first\nfirst,all\nall,\n")
    graph, labels = drawn()
    known = {name: labels[name][:20] for name in sorted(labels)[:3]}
    store = Store.init(tmp_path / "s", graph, known, method="sgc-mean", parents=table)
    assert parents_in(store) == TREE
    store.move(pa.table({"class": ["first"], "parent": pa.array([None], pa.string())}))
    assert parents_in(store) == {"class-00": "first", "class-01": "first"}
    with pytest.raises(MissingColumnError, match="parent"):
        store.move(pa.table({"class": ["first"]}))
    with pytest.raises(ClassNameError, match="two parents"):
        store.move(pa.table({"class": ["class-00"] * 2, "parent": ["a", "b"]}))


def test_new_classes_below_a_parent_and_undo(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method="graft", parameters={"practise": False})
    (one, nodes), (other, others) = new.items()
    store.add({one: nodes}, parent="class-00")
    store.add({other: others}, parent=one)
    assert parents_in(store) == {one: "class-00", other: one}
    with pytest.raises(ClassNameError, match="its own ancestor"):
        store.move({"class-00": other})
    removed = store.remove([one])
    assert parents_in(store) == {other: "class-00"}
    store.undo(removed.number)
    assert parents_in(store) == {one: "class-00", other: one}
    with pytest.raises(StoreError, match=r"version 3 \(add\) builds on it"):
        store.undo(2)


def test_wrong_parents_are_refused(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s")
    with pytest.raises(ClassNameError, match="no class 'clas-00'"):
        store.move({"clas-00": "first"})
    with pytest.raises(ClassNameError, match="no class 'first'"):
        store.move({"first": "all"})
    with pytest.raises(ClassNameError, match="No class was given"):
        store.move({})
    with pytest.raises(StoreError, match="change nothing"):
        store.move({"class-00": None})
    with pytest.raises(SimilarNameError):
        store.move({"class-00": "Class-01"})
    store.move({"class-00": "Class-01"}, force_name=True)
    with pytest.raises(ClassNameError, match="group"):
        store.rename("class-01", "Class-01")
    assert store.newest == 2


def test_groups_are_renamed_removed_and_become_classes(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method="graft", parameters={"practise": False})
    nodes = next(iter(new.values()))
    store.move(TREE)
    renamed = store.rename("first", "front")
    assert renamed.measures["flipped"] == 0
    assert parents_in(store) == {"class-00": "front", "class-01": "front", "front": "all"}
    store.add({"front": nodes})
    assert store.state(store.newest).labels.groups == ["all"]
    store.remove(["all"])
    assert parents_in(store) == {"class-00": "front", "class-01": "front"}


def rows_of(store: Store, **options: Any) -> list[dict[str, Any]]:
    return store.predict(version=store.newest, ignore_labels=True, **options).to_rows()


def test_without_parents_predictions_are_byte_for_byte_the_same(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="graft")
    options: dict[str, Any] = {"top": 3, "min_confidence": 0.9, "coverage": 0.9}
    before = json.dumps(rows_of(store, **options))
    fields = "node class label prediction confidence probability known reason top set"
    assert list(json.loads(before)[0]) == fields.split()
    store.move(TREE)
    store.move(dict.fromkeys(TREE))
    assert json.dumps(rows_of(store, **options)) == before


def test_without_a_threshold_a_tree_changes_no_prediction(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s", method="graft")
    before = rows_of(store, top=3)
    store.move(TREE)
    after = rows_of(store, top=3)
    for old, new in zip(before, after, strict=True):
        assert new == {**old, "leaf": old["class"], "depth": new["depth"]}
        assert new["depth"] == {"class-00": 2, "class-01": 2}.get(str(new["leaf"]), 0)


@pytest.mark.parametrize("mapped", [False, True])
def test_predictions_back_off_to_sums(mapped: bool, tmp_path: Path) -> None:
    store = on_disk.made(tmp_path, mapped=mapped)
    below = {
        "first": ["class 0", "class 1"],
        "all": ["class 0", "class 1", "class 2"],
    }
    store.move({"class 0": "first", "class 1": "first", "first": "all", "class 2": "all"})
    every = store.predict(version=1, top=99, ignore_labels=True)
    plain = {row["node"]: row for row in every.to_rows()}
    # Most predictions of this store lack so much confidence.
    least = float(np.quantile(every.confidence, 0.6))
    found = rows_of(store, min_confidence=least)
    for row in found:
        old = plain[row["node"]]
        assert row["leaf"] == old["class"]
        if row["reason"] == "prediction":
            assert (row["class"], row["confidence"]) == (old["class"], old["confidence"])
            continue
        assert old["confidence"] < least
        shares = {own["class"]: own["probability"] for own in old["top"]}
        up = {name: sum(shares[own] for own in below[name]) for name in below}
        known = 1.0 if old["known"] is None else old["known"]
        good = [
            name
            for name, total in up.items()
            if old["class"] in below[name] and total * known >= least
        ]
        assert row["class"] == (good[0] if good else None)
        assert row["reason"] == ("ancestor" if good else "below_confidence")
        if good:
            assert row["probability"] == pytest.approx(up[good[0]])
            assert row["depth"] == {"first": 1, "all": 0}[good[0]]
    assert {row["reason"] for row in found} == {"prediction", "ancestor", "below_confidence"}
    table = store.predict(version=store.newest, min_confidence=least, ignore_labels=True).to_arrow()
    assert table["leaf"].to_pylist() == [row["leaf"] for row in found]
    assert table["class"].to_pylist() == [row["class"] for row in found]
    store.undo()
    assert parents_in(store) == {}
    assert rows_of(store, top=99) == every.to_rows()


def test_previews_and_diffs_count_changes_inside_branches(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", method="graft", parameters={"practise": False})
    (name, nodes), *_ = new.items()
    assert store.preview(Change("remove", {"names": ["class-02"]})).inside == {}
    store.move({**TREE, "class-02": "first", "class-03": "all"})
    change = Change("remove", {"names": ["class-02"]})
    preview = store.preview(change)
    wanted = {"all": 0, "first": 0}
    for pair, count in preview.flips.items():
        wanted["all" if "class-03" in pair else "first"] += count
    assert preview.inside == wanted
    assert min(wanted.values()) > 0
    store.change(change)
    assert store.diff(store.newest - 1, store.newest).inside == wanted
    # This new class is in no branch.
    alone = store.preview(Change("add", {"classes": {name: nodes}}))
    assert sum(alone.inside.values()) == sum(
        count for pair, count in alone.flips.items() if name not in pair
    )
    below = store.preview(Change("add", {"classes": {name: nodes}, "parent": "class-00"}))
    assert below.inside["class-00"] == below.flips["class-00", name]


def test_an_older_change_that_gave_a_parent_its_name_is_not_undone_alone(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s")
    store.move({"class-00": "first"})
    store.rename("first", "start")
    store.move({"class-01": "start"})
    with pytest.raises(StoreError, match=r"version 4 \(move\) builds on it.* no class 'start'"):
        store.undo(3)
    name = next(iter(new))
    store.add({name: new[name]})
    store.move({"class-02": name})
    with pytest.raises(StoreError, match=rf"version 6 \(move\) builds on it.* no class '{name}'"):
        store.undo(5)
    # The group of version 2 comes from version 4 as well.
    with pytest.raises(StoreError, match=r"version 3 \(rename\) builds on it"):
        store.undo(2)


def test_changes_inside_a_branch_whose_group_was_renamed(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "s")
    store.move({"class-00": "first", "class-01": "first"})
    store.rename("first", "start")
    store.remove(["class-00"], intent=Intent(override="a test"))
    flips = store.diff(3, 4).flips.get(("class-00", "class-01"), 0)
    assert flips
    assert store.diff(3, 4).inside == {"start": flips}
    assert store.diff(2, 4).inside == {"first": flips}


def test_a_group_that_becomes_a_merged_class_stays_where_it_is() -> None:
    tree = ClassTree({"boots": "shoes", "shoes": "wear", "caps": "hats"})
    assert tree.merged(["boots", "caps"], "shoes")["shoes"] == "wear"
    # Its parent is merged into it.
    assert "shoes" not in tree.merged(["wear", "caps"], "shoes")


def test_all_probability_reaches_a_confidence_of_one() -> None:
    """A sum of rounded probabilities may be a little more or less than 1."""
    shares = np.random.default_rng(0).dirichlet(np.ones(9), size=500)
    ancestors = Ancestors.of([*"abcdefghi"], ClassTree(dict.fromkeys("abcdefghi", "all")))
    best, known = shares.argmax(axis=1), np.full(500, np.nan)
    assert (shares.sum(axis=1) != 1.0).any()
    answers = back_off(shares, best, known, "closed", ancestors, 1.0)
    assert (answers.places == 9).all()
    assert answers.probability.max() == 1.0
