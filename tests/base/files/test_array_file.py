from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import CheckpointError, DamagedFileError
from nodegraft.base.files import array_file
from nodegraft.base.files.array_file import (
    ArrayWriter,
    StoredArray,
    is_unchanged,
    map_array,
    map_checked,
)


@pytest.mark.parametrize("row", [(), (3,), (0,)])
@pytest.mark.parametrize("dtype", [np.int32, np.float16, np.uint8])
def test_pieces_become_one_array(dtype: Any, row: tuple[int, ...], tmp_path: Path) -> None:
    whole = np.arange(7 * int(np.prod(row)), dtype=dtype).reshape(7, *row)
    writer = ArrayWriter(tmp_path / "x.npy", dtype, row)
    for start, end in ((0, 2), (2, 2), (2, 7)):
        writer.add(whole[start:end])
    stored = writer.close()
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), whole)
    mapped = map_array(tmp_path / "x.npy", stored)
    np.testing.assert_array_equal(mapped, whole)
    assert is_unchanged(mapped, stored)
    assert StoredArray.from_json(stored.to_json()) == stored


def test_what_is_not_as_written_is_refused(tmp_path: Path) -> None:
    writer = ArrayWriter(tmp_path / "x.npy", np.int64)
    writer.add(np.arange(5))
    stored = writer.close()
    other = StoredArray("<i4", (10,), stored.digest)
    with pytest.raises(CheckpointError, match="holds <i8 of shape"):
        map_array(tmp_path / "x.npy", other)
    (tmp_path / "x.npy").write_bytes(b"something else")
    with pytest.raises(CheckpointError, match="its header is not as it was written"):
        map_array(tmp_path / "x.npy", stored)


def test_every_bit_of_a_header_counts(tmp_path: Path) -> None:
    writer = ArrayWriter(tmp_path / "x.npy", np.int32)
    writer.add(np.arange(5))
    stored = writer.close()
    whole = (tmp_path / "x.npy").read_bytes()
    for place in range(len(whole) - 20):
        for bit in range(8):
            content = bytearray(whole)
            content[place] ^= 1 << bit
            (tmp_path / "x.npy").write_bytes(content)
            with pytest.raises(CheckpointError):
                map_array(tmp_path / "x.npy", stored)


def test_small_arrays_are_compared_with_their_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = ArrayWriter(tmp_path / "x.npy", np.int32)
    writer.add(np.arange(5))
    stored = writer.close()
    map_checked(tmp_path / "x.npy", stored)
    content = bytearray((tmp_path / "x.npy").read_bytes())
    content[-1] ^= 1
    (tmp_path / "x.npy").write_bytes(content)
    with pytest.raises(DamagedFileError, match=r"x\.npy is damaged: its checksum is wrong"):
        map_checked(tmp_path / "x.npy", stored)
    monkeypatch.setattr(array_file, "CHECKED_BYTES", 8)
    map_checked(tmp_path / "x.npy", stored)
