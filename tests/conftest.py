"""What every test may ask for."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodegraft.lab.datasets.templates.dataset import CACHE_VARIABLE, DATA_VARIABLE

REQUIRED_VARIABLE = "NODEGRAFT_REQUIRE_REAL_DATA"
BESIDE_THE_REPOSITORY = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real graphs; a test that needs it is skipped where there is none."""
    folder = Path(os.environ.get(DATA_VARIABLE) or BESIDE_THE_REPOSITORY)
    if not folder.is_dir():
        if os.environ.get(REQUIRED_VARIABLE):
            pytest.fail(f"the real graphs are required and not in {folder}")
        pytest.skip(f"no real graphs in {folder}; set {DATA_VARIABLE} to where they are")
    return folder


@pytest.fixture(scope="session", autouse=True)
def cache_away_from_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Parsed graphs go to a folder of this run, never to the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(CACHE_VARIABLE, str(tmp_path_factory.mktemp("cache")))
        yield
