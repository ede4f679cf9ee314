from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import StoreError
from nodegraft.store.objects.objects import Objects


def kept(folder: Path) -> tuple[Objects, str]:
    objects = Objects(folder)
    arrays = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "one": np.array(7)}
    return objects, objects.put(arrays, {"of": "hüte"})


def test_what_is_put_is_got(tmp_path: Path) -> None:
    objects, name = kept(tmp_path)
    arrays, document = objects.get(name)
    assert document == {"of": "hüte"}
    np.testing.assert_array_equal(arrays["x"], [[0, 1, 2], [3, 4, 5]])
    assert arrays["one"].shape == ()


def test_arrays_that_are_the_same_are_kept_once(tmp_path: Path) -> None:
    objects, name = kept(tmp_path)
    files = set(objects.files())
    other = objects.put({"x": objects.get(name)[0]["x"], "y": np.zeros(3)}, {"of": "caps"})
    assert len(set(objects.files()) - files) == 2
    assert objects.names_in([name]) & objects.names_in([other]) != set()


@pytest.mark.parametrize("spoil", [lambda content: content[:-3], lambda content: content + b" "])
def test_a_damaged_file_is_told(spoil: object, tmp_path: Path) -> None:
    objects, name = kept(tmp_path)
    for file in objects.names_in([name]):
        path = tmp_path / file
        content = path.read_bytes()
        path.chmod(0o644)
        path.write_bytes(spoil(content))  # type: ignore[operator]
        with pytest.raises(StoreError, match="damaged"):
            objects.get(name)
        path.write_bytes(content)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    objects, name = kept(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(StoreError, match="is missing, which a version needs"):
        objects.get(name)


@pytest.mark.parametrize("name", ["../secret", "x" * 64, "", "A" * 64, "0" * 63])
def test_names_lead_nowhere_else(name: str, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no name of an object"):
        Objects(tmp_path / "objects").get(name)


def test_whole_files_that_say_something_else_are_refused(tmp_path: Path) -> None:
    objects = Objects(tmp_path)
    for content in (b"[]", b"\x80\x04.", b'{"arrays": {"x": 3}, "document": {}}', b"null"):
        name = objects._write(content)
        with pytest.raises(StoreError):
            objects.get(name)


@pytest.mark.parametrize("file", ["../outside", "/etc/hostname", 3, None])
def test_a_list_leads_to_no_file_outside_of_the_store(file: Any, tmp_path: Path) -> None:
    objects = Objects(tmp_path / "objects")
    name = objects.put_list({"x": file}, {})
    with pytest.raises(StoreError, match="no name of an object"):
        objects.paths(name)
