"""The journal of blocks that are complete."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nodegraft.graph.disk.blocks.layer_rows import JOURNAL, LayerFiles


def test_damaged_lines_of_the_journal_name_no_block(tmp_path: Path) -> None:
    rows: Any = SimpleNamespace(place=tmp_path)
    files = LayerFiles(rows, (0, 10, 20, 30))
    assert files.done() == set()
    (tmp_path / JOURNAL).write_bytes(b"0 done\n\0\0\0 done\n\xff done\n2 done\n1 do")
    assert files.done() == {0, 2}
