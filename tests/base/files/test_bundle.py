import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files import bundle
from nodegraft.base.files.bundle import ARRAYS, DOCUMENT, read_bundle, write_bundle

ARRAY = {"a": np.arange(1000.0)}


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.5),
        np.zeros((0, 4), dtype=np.float32),
        np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3)),
        np.arange(10)[::3],
        np.array([1.5, -0.0], dtype=np.float16),
        np.array([True, False]),
        np.array([2**63], dtype=np.uint64),
    ],
    ids=["number", "empty", "columns first", "strided", "half", "bool", "unsigned"],
)
def test_arrays_come_back_as_they_were(array: "np.ndarray[Any, Any]", tmp_path: Path) -> None:
    write_bundle(tmp_path / "x", {"a": array}, {})
    back = read_bundle(tmp_path / "x")[0]["a"]
    assert (back.dtype, back.shape) == (array.dtype, array.shape)
    assert back.tobytes() == array.tobytes()


def test_document_and_texts_come_back_as_they_were(tmp_path: Path) -> None:
    document = {"names": ["é", ""], "none": None, "nested": {"b": 1.5, "a": 2}}
    write_bundle(tmp_path / "new" / "x", {}, document, {"README.md": "é\n"})
    assert read_bundle(tmp_path / "new" / "x") == ({}, document)
    assert list(read_bundle(tmp_path / "new" / "x")[1]["nested"]) == ["b", "a"]
    assert (tmp_path / "new" / "x" / "README.md").read_bytes() == "é\n".encode()


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    write_bundle(tmp_path / "x", ARRAY, {"first": True})
    with pytest.raises(CheckpointError, match="never overwritten"):
        write_bundle(tmp_path / "x", {}, {"first": False})
    assert read_bundle(tmp_path / "x")[1] == {"first": True}


def fail(error: BaseException) -> Callable[..., None]:
    def failing(*_: object) -> None:
        raise error

    return failing


@pytest.mark.parametrize("step", ["save_file", "flush_to_disk"])
@pytest.mark.parametrize(
    ("error", "seen"),
    [(OSError("disk full"), CheckpointError), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_a_write_that_fails_midway_leaves_nothing(
    step: str,
    error: BaseException,
    seen: type[BaseException],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bundle, step, fail(error))
    with pytest.raises(seen):
        write_bundle(tmp_path / "x", ARRAY, {})
    assert list(tmp_path.iterdir()) == []


def test_a_document_that_is_no_json_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="not JSON serializable"):
        write_bundle(tmp_path / "x", ARRAY, {"a": object()})
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(CheckpointError, match="could not be written"):
            write_bundle(tmp_path / "x", ARRAY, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(tmp_path.iterdir()) == []


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-5] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: flip(folder / ARRAYS), "is damaged"),
        (lambda folder: (folder / ARRAYS).write_bytes(b""), "cannot be read"),
        (lambda folder: os.truncate(folder / ARRAYS, 500), "cannot be read"),
        (lambda folder: (folder / DOCUMENT).write_text("{"), "cannot be read"),
        (lambda folder: (folder / DOCUMENT).write_text("[1]"), "cannot be read"),
        (lambda folder: (folder / ARRAYS).unlink(), f"{ARRAYS} is missing"),
        (lambda folder: (folder / DOCUMENT).unlink(), f"{DOCUMENT} is missing"),
    ],
    ids=["bit", "empty", "cut", "no json", "no object", "no arrays", "no document"],
)
def test_damage_is_noticed(damage: Callable[[Path], None], message: str, tmp_path: Path) -> None:
    write_bundle(tmp_path / "x", ARRAY, {"a": 1})
    damage(tmp_path / "x")
    with pytest.raises(CheckpointError, match=message):
        read_bundle(tmp_path / "x")


def test_arrays_are_read_by_safetensors_and_the_document_by_json(tmp_path: Path) -> None:
    write_bundle(tmp_path / "x", ARRAY, {"a": 1})
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == [ARRAYS, DOCUMENT]
    assert json.loads((tmp_path / "x" / DOCUMENT).read_text())["a"] == 1
    length = int.from_bytes((tmp_path / "x" / ARRAYS).read_bytes()[:8], "little")
    header = json.loads((tmp_path / "x" / ARRAYS).read_bytes()[8 : 8 + length])
    assert header["a"]["shape"] == [1000]


def test_text_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from nodegraft.base.files.bundle import write_bundle;"
        f"write_bundle(Path({str(tmp_path / 'x')!r}), {{}}, {{}}, {{'README.md': '\\xe9'}})"
    )
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code], env={**os.environ, **ascii_only}, check=True)
    assert (tmp_path / "x" / "README.md").read_bytes() == "é".encode()
