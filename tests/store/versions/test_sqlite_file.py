"""A process that was forked while a store was open does not use its database."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nodegraft.base.errors import StoreError
from nodegraft.store.store import Store
from tests.fault.test_store_kills import forked, was_killed
from tests.store.small import made

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no fork")


def refused(work: Callable[[], object]) -> None:
    with pytest.raises(StoreError, match=r"forked while .* was open"):
        work()


def test_a_store_that_was_open_at_a_fork_is_refused_by_the_child_only(tmp_path: Path) -> None:
    store, new = made(tmp_path / "store")
    with store:
        assert not was_killed(forked(lambda: refused(lambda: store.add(new))))
        assert not was_killed(forked(lambda: refused(lambda: Store.open(tmp_path / "store"))))
        assert store.add(new).number == 2
    assert not was_killed(forked(lambda: Store.open(tmp_path / "store").undo()))
    with Store.open(tmp_path / "store") as again:
        assert again.newest == 3
