"""What tests of the service may ask for."""

import shutil
from pathlib import Path

import pytest

from nodegraft.graph.keys import Key
from tests.store.small import made

New = dict[str, list[Key]]


@pytest.fixture(scope="session")
def first(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, New]:
    """A store that nobody changes, and classes that it does not know."""
    place = tmp_path_factory.mktemp("first") / "shop"
    store, new = made(place, method="graft")
    store.close()
    return place, new


@pytest.fixture
def shop(first: tuple[Path, New], tmp_path: Path) -> Path:
    """A store of one's own."""
    place = tmp_path / "shop"
    shutil.copytree(first[0], place)
    return place


@pytest.fixture(scope="session")
def new(first: tuple[Path, New]) -> New:
    """Classes that the store does not know, and nodes of them."""
    return first[1]
