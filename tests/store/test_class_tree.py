"""Parents of classes in a store: they are stored, changed, previewed and undone; scores are not."""

from pathlib import Path

import pyarrow as pa
import pytest

from nodegraft.analysis.labels.changes import Change
from nodegraft.analysis.version import describe_version
from nodegraft.base.errors import ClassNameError, MissingColumnError, SimilarNameError, StoreError
from nodegraft.store.store import Store
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
    store.undo(2)
    assert parents_in(store) == {other: one}
    assert store.state(store.newest).labels.groups == [one]


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
