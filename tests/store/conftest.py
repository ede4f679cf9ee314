"""Store that several test files use."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.small import Small, made


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Small]:
    store, new = made(tmp_path / "s")
    with store:
        yield store, new
