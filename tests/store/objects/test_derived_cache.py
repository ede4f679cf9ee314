import shutil
from pathlib import Path

import numpy as np
import pytest

from nodegraft.analysis.labels.changes import Change
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.methods.linear.dual import FrozenRidge
from nodegraft.store.intent import Intent
from nodegraft.store.objects.derived_cache import FolderCache
from nodegraft.store.store import Store
from tests.store.small import drawn, made


def test_arrays_are_found_by_all_they_depend_on(tmp_path: Path) -> None:
    cache = FolderCache(tmp_path / "cache").under([1.0, 2.0])
    # One of them lies column by column.
    arrays = {"x": np.arange(6.0).reshape(2, 3).T, "y": np.array([1, 2])}
    cache.put(arrays, "lengths", 3)
    found = FolderCache(tmp_path / "cache").under([1.0, 2.0]).get("lengths", 3)
    assert found is not None
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert cache.get("lengths", 4) is None
    assert FolderCache(tmp_path / "cache").get("lengths", 3) is None


def test_a_damaged_file_counts_as_missing(tmp_path: Path) -> None:
    cache = FolderCache(tmp_path)
    cache.put({"x": np.arange(3)}, "x")
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert cache.get("x") is None
    cache.put({"x": np.arange(3)}, "x")
    assert cache.get("x") is not None


def test_where_nothing_can_be_written_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = FolderCache(tmp_path / "file")
    cache.put({"x": np.arange(3)}, "x")
    assert cache.get("x") is None


def test_a_store_answers_the_same_with_its_cache_and_without(tmp_path: Path) -> None:
    store, later = made(tmp_path / "store", method="graft")
    store.add(later, intent=Intent(override="a small store knows little"))

    def scores() -> bytes:
        with Store.open(tmp_path / "store") as opened:
            state = opened.state(2)
        return state.model.score_rows(state.graph, state.graph.rows).tobytes()

    from_cache = scores()
    shutil.rmtree(tmp_path / "store" / "derived")
    assert scores() == from_cache
    assert scores() == from_cache


def test_the_next_process_does_not_solve_the_regression_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = made(tmp_path / "store", method="graft")[1]
    monkeypatch.setattr(FrozenRidge, "solved", None)
    with Store.open(tmp_path / "store") as opened:
        assert opened.predict(next(iter(later.values()))).predictions
        opened.add(later, intent=Intent(override="a small store knows little"))


def test_the_next_process_needs_no_diffusion_pass_however_few_labels_a_class_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, later = made(tmp_path / "store", method="graft")
    few = {name: keys[:3] for name, keys in later.items()}
    store.add(few, intent=Intent(override="a small store knows little"))
    answers = store.predict(version=2).predictions
    monkeypatch.setattr(Diffusion, "_pass", None)
    with Store.open(tmp_path / "store") as opened:
        assert opened.predict(version=2).predictions == answers


def test_what_previews_leave_is_bounded(tmp_path: Path) -> None:
    store, later = made(tmp_path / "store", method="graft")
    keys = drawn()[1][next(iter(later))]

    def files() -> int:
        return sum(1 for file in (tmp_path / "store" / "derived").rglob("*") if file.is_file())

    for count in range(2, 8):
        store.preview(Change("add", {"classes": {"new": list(keys[:count])}}))
    before = files()
    for count in range(2, 8):
        for first in range(1, 4):
            store.preview(Change("add", {"classes": {"new": list(keys[first : first + count])}}))
    # The halves of a new class are two sets: the list may be as much longer.
    assert files() <= before + 2
