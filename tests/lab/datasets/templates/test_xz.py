from collections.abc import Callable
from pathlib import Path

import pytest

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.readers import read_lines, read_stanzas

Write = Callable[[Path, str], Path]


def test_a_line_of_blanks_continues_a_value(write_xz: Write, tmp_path: Path) -> None:
    path = write_xz(tmp_path / "a.xz", "Text: one\n \n two\n\n\nText: three:four\n")
    assert list(read_stanzas(path)) == [{"Text": "one\n\ntwo"}, {"Text": "three:four"}]


def test_an_empty_file_has_no_stanzas(write_xz: Write, tmp_path: Path) -> None:
    assert list(read_stanzas(write_xz(tmp_path / "a.xz", ""))) == []


def test_a_file_cut_short_is_named(write_xz: Write, tmp_path: Path) -> None:
    path = write_xz(tmp_path / "a.xz", "Text: one\n" * 1000)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"a\.xz is truncated or not an \.xz file"):
        list(read_lines(path))


def test_a_file_of_another_kind_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.xz").write_text("plain text")
    with pytest.raises(DataError, match=r"a\.xz is truncated or not an \.xz file"):
        list(read_lines(tmp_path / "a.xz"))
