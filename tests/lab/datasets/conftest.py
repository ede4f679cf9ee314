"""What the tests of the datasets share."""

import lzma
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def write_xz() -> Callable[[Path, str], Path]:
    """Write a small compressed file, its folder included."""

    def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lzma.open(path, "wt", encoding=encoding) as file:
            file.write(text)
        return path

    return write
