"""The version that answers follows the store, and is replaced whole."""

import logging
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from nodegraft.base.errors import StoreUnreachableError
from nodegraft.service.live.live import Live, LiveVersion
from nodegraft.store.store import Store
from tests.service.served import asked

LONGEST = 20.0


def test_a_version_that_another_process_promotes_answers(
    shop: Path, new: dict[str, list[Any]]
) -> None:
    with asked(shop) as client, Store.open(shop) as other:
        other.add(new)
        other.promote()
        began = monotonic()
        while client.get("/readyz").json()["model_version"] == 1:
            assert monotonic() - began < LONGEST
            sleep(0.05)
        assert len(client.get("/v1/classes").json()["classes"]) == 6


def test_whoever_has_taken_a_version_keeps_it(shop: Path, new: dict[str, list[Any]]) -> None:
    told: list[Live] = []
    with Store.open(shop) as store:
        live = LiveVersion(store, told.append)
        taken = live.now
        store.add(new)
        live.follow()
        assert live.now is taken
        store.promote()
        live.follow()
    assert [one.version for one in told] == [1, 2]
    assert (taken.version, len(taken.state.labels)) == (1, 4)
    assert (live.now.version, len(live.now.state.labels)) == (2, 6)


def test_a_store_that_cannot_be_read_leaves_the_last_version_answering(
    shop: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(_: Store) -> int:
        raise StoreUnreachableError("gone")

    with Store.open(shop) as store:
        live = LiveVersion(store)
        monkeypatch.setattr(Store, "live", property(gone))
        with caplog.at_level(logging.ERROR):
            live.follow()
            live.follow()
    assert live.now.version == 1
    # Once: it is tried again every second.
    assert caplog.text.count("cannot follow the store") == 1
