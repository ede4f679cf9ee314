from collections.abc import Callable
from pathlib import Path

import pytest

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.readers import read_rows

Write = Callable[[Path, str], Path]
TEXT = '0\t"a\tb\n1\t\tc d\n'


def test_plain_and_compressed_files_are_alike(write_xz: Write, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(TEXT)
    packed = write_xz(tmp_path / "a.tsv.xz", TEXT)
    rows = [["0", '"a', "b"], ["1", "", "c d"]]
    assert list(read_rows(tmp_path / "a.tsv", 3)) == list(read_rows(packed, 3)) == rows


def test_a_line_with_other_fields_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("0\t1\n2\n")
    with pytest.raises(DataError, match=r"a\.tsv, line 2: 1 fields instead of 2"):
        list(read_rows(tmp_path / "a.tsv", 2))
