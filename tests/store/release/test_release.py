"""Stores of earlier releases are opened, verified and changed by today's code."""

import json
import tarfile
from pathlib import Path

import pytest

import nodegraft as ng
from nodegraft.store.access import StoreTokens
from tests.store.release.make import FOLDER, keys, summarise

RELEASES = sorted(FOLDER.glob("store-*.tar.gz"))


@pytest.fixture(params=RELEASES, ids=lambda archive: archive.name.removesuffix(".tar.gz"))
def release(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, dict[str, object]]:
    """The place of a released store, and what its release read from it."""
    archive: Path = request.param
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    expected = json.loads(archive.with_name(archive.name.replace(".tar.gz", ".json")).read_text())
    return tmp_path / "store", expected


def test_there_is_a_store_of_a_release() -> None:
    assert RELEASES


def test_history_and_predictions_are_those_of_the_release(
    release: tuple[Path, dict[str, object]],
) -> None:
    place, expected = release
    assert ng.Store.verify(place).is_clean
    with ng.Store.open(place) as store:
        today = json.loads(json.dumps(summarise(store)))
    assert today.pop("confidence") == pytest.approx(expected.pop("confidence"), abs=1e-6)
    assert today == expected
    with StoreTokens.open(place) as tokens:
        assert [token.name for token in tokens.read().tokens] == ["later"]


def test_a_store_of_the_release_is_changed_and_undone(
    release: tuple[Path, dict[str, object]],
) -> None:
    place, expected = release
    with ng.Store.open(place) as store:
        added = store.label({"rugs": keys("rugs", 12, 14)})
        store.promote(added.number)
        undone = store.undo(added.number)
        store.promote(undone.number)
        assert summarise(store)["predictions"] == expected["predictions"]
