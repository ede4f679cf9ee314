"""What tests of walks share."""

import pytest

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray


@pytest.fixture
def touched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many adjacency entries were read, one number for each time they were asked for."""
    read: list[int] = []
    places = Adjacency._places

    def counted(adjacency: Adjacency, nodes: IntArray) -> tuple[IntArray, IntArray]:
        counts, found = places(adjacency, nodes)
        read.append(found.size)
        return counts, found

    monkeypatch.setattr(Adjacency, "_places", counted)
    return read
