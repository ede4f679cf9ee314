from collections.abc import Callable
from pathlib import Path

import pytest

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.readers import read_typed_edges

Write = Callable[[Path, str], Path]
KINDS = {"next": True, "head": False}


def test_a_kind_decides_on_direction(write_xz: Write, tmp_path: Path) -> None:
    path = write_xz(tmp_path / "edges.tsv.xz", "3\t1\thead\n1\t3\tnext\n")
    edges = list(read_typed_edges(path, KINDS))
    assert [(edge.kind, edge.is_directed) for edge in edges] == [("head", False), ("next", True)]
    assert (edges[0].source, edges[0].target) == (3, 1)


def test_an_unknown_kind_is_named(write_xz: Write, tmp_path: Path) -> None:
    path = write_xz(tmp_path / "edges.tsv.xz", "3\t1\tuses\n")
    with pytest.raises(DataError, match="kind 'uses', known are next, head"):
        list(read_typed_edges(path, KINDS))


def test_a_node_that_is_no_number_is_named(write_xz: Write, tmp_path: Path) -> None:
    path = write_xz(tmp_path / "edges.tsv.xz", "3\tone\thead\n")
    with pytest.raises(DataError, match=r"edges\.tsv\.xz: 'one' is no number"):
        list(read_typed_edges(path, KINDS))
