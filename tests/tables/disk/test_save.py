"""A graph written in pieces is the graph, or the part of it that was asked for."""

from pathlib import Path

import numpy as np
import pytest

from nodegraft.tables.disk import save
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.read import read_graph
from nodegraft.tables.storage import load_graph
from tests.tables.disk.tables import KeyType, write_tables
from tests.tables.disk.test_build import OPTIONS, expect_same


@pytest.mark.parametrize("kind", ["text", "integers"])
@pytest.mark.parametrize("options", OPTIONS)
def test_what_is_written_is_what_there_was(
    options: str, kind: KeyType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(save, "NODES_AT_ONCE", 70)
    monkeypatch.setattr(save, "ENTRIES_AT_ONCE", 300)
    graph = read_graph(*write_tables(tmp_path, kind), **OPTIONS[options])
    expect_same(save_mapped(graph, tmp_path / "whole"), graph)
    load_graph(tmp_path / "whole", verify=True)
    gone = np.array([0, 3, 71, 299])
    part = save_mapped(graph, tmp_path / "part", rows=np.setdiff1d(graph.rows, gone))
    expect_same(part, graph.without(gone))
    assert part.is_on_disk
