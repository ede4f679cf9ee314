import shutil
from pathlib import Path

import numpy as np
import pytest

from nodegraft.nn.linear.frozen_ridge import FrozenRidge
from nodegraft.store.shelf import FolderShelf
from nodegraft.store.store import Store
from tests.store.small import made


def test_arrays_are_found_by_all_they_depend_on(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path / "shelf").under([1.0, 2.0])
    # One of them lies column by column.
    arrays = {"x": np.arange(6.0).reshape(2, 3).T, "y": np.array([1, 2])}
    shelf.put(arrays, "lengths", 3)
    found = FolderShelf(tmp_path / "shelf").under([1.0, 2.0]).get("lengths", 3)
    assert found is not None
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
    assert shelf.get("lengths", 4) is None
    assert FolderShelf(tmp_path / "shelf").get("lengths", 3) is None


def test_a_damaged_file_counts_as_missing(tmp_path: Path) -> None:
    shelf = FolderShelf(tmp_path)
    shelf.put({"x": np.arange(3)}, "x")
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert shelf.get("x") is None
    shelf.put({"x": np.arange(3)}, "x")
    assert shelf.get("x") is not None


def test_where_nothing_can_be_written_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    shelf = FolderShelf(tmp_path / "file")
    shelf.put({"x": np.arange(3)}, "x")
    assert shelf.get("x") is None


def test_a_store_answers_the_same_with_its_shelf_and_without(tmp_path: Path) -> None:
    store, later = made(tmp_path / "store", method="graft")
    store.add(later, override="a small store knows little")

    def scores() -> bytes:
        with Store.open(tmp_path / "store") as opened:
            state = opened.state(2)
        return state.model.score_rows(state.graph, state.graph.rows).tobytes()

    with_shelf = scores()
    shutil.rmtree(tmp_path / "store" / "derived")
    assert scores() == with_shelf
    assert scores() == with_shelf


def test_the_next_process_does_not_solve_the_regression_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = made(tmp_path / "store", method="graft")[1]
    monkeypatch.setattr(FrozenRidge, "solved", None)
    with Store.open(tmp_path / "store") as opened:
        assert opened.predict(next(iter(later.values()))).answers
        opened.add(later, override="a small store knows little")
