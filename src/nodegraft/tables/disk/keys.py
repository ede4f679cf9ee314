"""The first step of a build: the keys of nodes, and the index by which they are found."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import Listener
from nodegraft.base.files.array_file import SUFFIX, StoredArray, map_array
from nodegraft.graph.disk.mapped_keys import MappedKeys, Stored, index_hashes
from nodegraft.graph.disk.packed_texts import PackedTexts, padding
from nodegraft.graph.edges.matrix import IntArray, index_type
from nodegraft.graph.keys import text_hashes
from nodegraft.tables.disk.buckets import Buckets, Records
from nodegraft.tables.disk.folder import BuildFolder

_RECORD = np.dtype([("hash", "<u8"), ("row", "<i8")])
_BYTES = 64
"""So much memory a record takes while it is sorted."""


class KeysWritten(NamedTuple):
    """What became of a column of keys."""

    arrays: dict[str, StoredArray]
    """The keys and their index."""

    repeated: NDArray[np.int64]
    """Rows whose key an earlier row has, ascending: without them all must be written anew."""


def write_keys(
    folder: BuildFolder, batches: Iterable[Stored], count: int, memory: int, listener: Listener
) -> KeysWritten:
    """Write keys and their index.

    Args:
        folder: Where to.
        batches: The keys of all nodes, some at a time, in row order.
        count: How many there are, one at least.
        memory: So many bytes may be used.
        listener: Is told how far it is.
    """

    def sort(name: str) -> Buckets:
        most = max(memory // _BYTES, 1)
        place = folder.work(name)
        return Buckets(place, _RECORD, by="hash", bits=64, most=most, expected=count)

    index, order = sort("index"), sort("order")
    arrays = _in_row_order(folder, batches, count, index, order, listener)
    kept, repeated = _stored_in(folder, arrays), [np.zeros(0, dtype=np.int64)]
    hashes = folder.writer("keys.hashes", np.uint64)
    rows = folder.writer("keys.rows", index_type(count))
    for records in _sorted(index):
        repeated.append(_repeated(records, kept))
        hashes.add(records["hash"])
        rows.add(records["row"])
    arrays |= {"keys.hashes": hashes.close(), "keys.rows": rows.close()}
    if isinstance(kept, PackedTexts):
        drawn = folder.writer("keys.order", index_type(count))
        for records in _sorted(order):
            drawn.add(records["row"])
        arrays["keys.order"] = drawn.close()
    return KeysWritten(arrays, np.sort(np.concatenate(repeated)))


def mapped_keys(folder: BuildFolder, arrays: Mapping[str, StoredArray]) -> MappedKeys:
    """The keys that were written, for looking up.

    Args:
        folder: Where they are.
        arrays: What :func:`write_keys` gave.
    """

    def get(name: str) -> NDArray[Any]:
        return map_array(folder.place / f"{name}{SUFFIX}", arrays[name])

    rows = get("keys.rows")
    order = get("keys.order") if "keys.order" in arrays else rows
    return MappedKeys(_stored_in(folder, arrays), get("keys.hashes"), rows, order)


def _in_row_order(
    folder: BuildFolder,
    batches: Iterable[Stored],
    count: int,
    index: Buckets,
    order: Buckets,
    listener: Listener,
) -> dict[str, StoredArray]:
    """Writes keys as they come; their hashes go to where they are sorted."""
    writer, done = None, 0
    for keys in batches:
        rows = np.arange(done, done := done + len(keys))
        index.add(_records(index_hashes(keys), rows))
        if isinstance(keys, PackedTexts):
            order.add(_records(text_hashes(keys.encoded()), rows))
        if writer is None:
            writer = _TextWriter(folder) if isinstance(keys, PackedTexts) else _Writer(folder)
        writer.add(keys)
        listener.step("keys", done, count)
    return {} if writer is None else writer.close()


class _Writer:
    """Writes integers."""

    def __init__(self, folder: BuildFolder) -> None:
        self._integers = folder.writer("keys.integers", np.int64)

    def add(self, keys: Any) -> None:
        self._integers.add(keys)

    def close(self) -> dict[str, StoredArray]:
        return {"keys.integers": self._integers.close()}


class _TextWriter(_Writer):
    """Writes texts as one run of letters."""

    def __init__(self, folder: BuildFolder) -> None:
        self._letters = folder.writer("keys.letters", np.uint8)
        self._bounds = folder.writer("keys.bounds", np.int64)
        self._bounds.add(np.zeros(1, dtype=np.int64))

    def add(self, keys: Any) -> None:
        self._bounds.add(keys.bounds[1:] + self._letters.length)
        self._letters.add(keys.written)

    def close(self) -> dict[str, StoredArray]:
        self._letters.add(padding(self._letters.length))
        return {"keys.letters": self._letters.close(), "keys.bounds": self._bounds.close()}


def _records(hashes: NDArray[np.uint64], rows: IntArray) -> Records:
    records = np.empty(rows.size, dtype=_RECORD)
    records["hash"], records["row"] = hashes, rows
    return records


def _sorted(buckets: Buckets) -> Iterator[Records]:
    for _, _, records in buckets.parts():
        # Rows came ascending, and equal hashes stay as they came.
        yield records[np.argsort(records["hash"], kind="stable")]


def _stored_in(folder: BuildFolder, arrays: Mapping[str, StoredArray]) -> Stored:
    def get(name: str) -> NDArray[Any]:
        return map_array(folder.place / f"{name}{SUFFIX}", arrays[name])

    if "keys.integers" in arrays:
        return get("keys.integers")
    return PackedTexts(get("keys.letters"), get("keys.bounds"))


def _repeated(records: Records, keys: Stored) -> NDArray[np.int64]:
    """Rows whose key comes earlier; equal keys have equal hashes, so only those are compared."""
    hashes = records["hash"]
    alike = np.zeros(hashes.size, dtype=bool)
    alike[1:] = hashes[1:] == hashes[:-1]
    alike[:-1] |= alike[1:]
    rows, met = records["row"][alike], set[str | int]()
    found = keys.at(rows) if isinstance(keys, PackedTexts) else keys[rows].tolist()
    repeated = []
    for row, key in zip(rows.tolist(), found, strict=True):
        if key in met:
            repeated.append(row)
        met.add(key)
    return np.array(repeated, dtype=np.int64)
