"""A package with a text encoder, as an installer would leave it."""

from pathlib import Path

import pytest

from nodegraft.tables.features import text_encoders

CODE = """
import numpy as np

def encode(texts):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return np.array([[text.count(letter) for letter in letters] for text in texts], dtype=float)
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the text encoder ``letters``, which counts letters, until the test ends."""
    info = folder / "site" / "letter_counts-3.1.dist-info"
    info.mkdir(parents=True)
    (info.parent / "letter_counts.py").write_text(CODE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letter-counts\nVersion: 3.1\n")
    (info / "entry_points.txt").write_text("[nodegraft.encoders]\nletters = letter_counts:encode\n")
    monkeypatch.syspath_prepend(info.parent)
    text_encoders._load.cache_clear()
