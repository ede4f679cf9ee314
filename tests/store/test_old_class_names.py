"""Stores with class names that an older nodegraft accepted and that are refused today."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.errors import ClassNameError
from nodegraft.store.changes import Change
from nodegraft.store.labels import StoreLabels
from nodegraft.store.store import Store
from tests.store.small import drawn

OLD = "hats "


def older(place: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> Store:
    """A store that an older nodegraft made, with two old class names, one of them added later."""
    graph, labels = drawn()
    known = {name: labels[name][:20] for name in ("class-00", "class-01", "class-02")}
    with monkeypatch.context() as patched:
        patched.setattr("nodegraft.store.labels.class_name", lambda name: name)
        store = Store.init(place, graph, known | {OLD: labels["class-03"][:20]}, method=method)
        store.add({"caps ": labels["class-04"][:5]}, override="a test")
    return store


@pytest.mark.parametrize("method", ["graft", "sgc-mean"])
def test_a_store_with_an_old_name_can_be_changed(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, labels = older(tmp_path / "s", monkeypatch, method), drawn()[1]
    given: dict[str, Any] = {"override": "a test"}
    changes: list[Callable[[], Any]] = [
        lambda: store.add({"new": labels["class-05"][:5]}, **given),
        lambda: store.label({OLD: labels["class-03"][20:22]}, **given),
        lambda: store.unlabel([labels["class-00"][0]], **given),
        lambda: store.remove(["class-01"], **given),
        lambda: store.refit(**given),
        lambda: store.undo(),
        lambda: store.purge([labels["class-00"][30]]),
        lambda: store.rename(OLD, "hats", **given),
        lambda: store.remove(["caps "], **given),
    ]
    for change in changes:
        change()
    assert set(store.state(store.candidate).labels) == {"class-00", "class-02", "hats", "new"}


def test_an_earlier_change_is_undone_beneath_an_old_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, labels = older(tmp_path / "s", monkeypatch, "graft"), drawn()[1]
    more = store.label({"class-00": labels["class-00"][20:22]}, override="a test")
    with monkeypatch.context() as patched:
        patched.setattr("nodegraft.store.labels.class_name", lambda name: name)
        store.rename("class-01", "first ", override="a test")
    store.rename("first ", "first", override="a test")
    store.undo(more.number)
    assert {OLD, "caps ", "first"} < set(store.state(store.candidate).labels)


def test_a_store_with_an_old_name_is_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = older(tmp_path / "s", monkeypatch, "sgc-mean")
    assert store.evaluate(["sgc-mean"], seeds=1).methods


def test_new_names_are_checked_in_it_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, labels = older(tmp_path / "s", monkeypatch, "sgc-mean"), drawn()[1]
    with pytest.raises(ClassNameError, match="begins or ends with a blank"):
        store.add({"new ": labels["class-05"][:5]})
    with pytest.raises(ClassNameError, match="begins or ends with a blank"):
        store.preview(Change("rename", {"old": OLD, "new": " hats"}))


def test_a_part_of_a_split_class_may_keep_its_old_name() -> None:
    known = StoreLabels().added({OLD: [1, 2, 3], "a": [4]}, check_names=False)
    assert set(known.split(OLD, {OLD: [1], "caps": [2]})) == {OLD, "caps", "a"}
    with pytest.raises(ClassNameError, match="differs from"):
        known.split(OLD, {OLD: [1], "hats": [2]})
