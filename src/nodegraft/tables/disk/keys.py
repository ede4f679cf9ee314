"""Write node keys to disk, with a hash index for looking up the row of a key."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.events import Listener
from nodegraft.base.files.array_file import SUFFIX, ArrayWriter, StoredArray, map_array
from nodegraft.graph.disk.mapped_keys import MappedKeys, PackedTexts, Stored, index_hashes, padding
from nodegraft.graph.edges.matrix import IntArray, index_type
from nodegraft.graph.keys import text_hashes
from nodegraft.tables.disk.buckets import Buckets, Records
from nodegraft.tables.disk.folder import BuildFolder, StoredArrays

_RECORD = np.dtype([("hash", "<u8"), ("row", "<i8")])
_BYTES = 64
"""Memory per record while records are sorted, in bytes."""


def write_keys(
    folder: BuildFolder, batches: Iterable[Stored], count: int, memory: int, listener: Listener
) -> tuple[StoredArrays, NDArray[np.int64]]:
    """Write node keys and their hash index.

    Args:
        batches: Batches of the keys of all nodes, in row order.

    Returns:
        The written arrays by name, and the rows with duplicate keys: all rows whose key occurs in
        an earlier row, ascending. If there are any, the caller must call this function again
        without these rows.
    """

    def sort(name: str) -> Buckets:
        most = max(memory // _BYTES, 1)
        return Buckets(folder.work(name), _RECORD, by="hash", bits=64, most=most, expected=count)

    index, order = sort("index"), sort("order")
    arrays = _in_row_order(folder, batches, count, index, order, listener)
    keys, repeated = _stored_in(folder, arrays), [np.zeros(0, dtype=np.int64)]
    hashes = folder.writer("keys.hashes", np.uint64)
    rows = folder.writer("keys.rows", index_type(count))
    for records in _sorted(index):
        repeated.append(_repeated(records, keys))
        hashes.add(records["hash"])
        rows.add(records["row"])
    arrays |= {"keys.hashes": hashes.close(), "keys.rows": rows.close()}
    if isinstance(keys, PackedTexts):
        ordered = folder.writer("keys.order", index_type(count))
        for records in _sorted(order):
            ordered.add(records["row"])
        arrays["keys.order"] = ordered.close()
    return arrays, np.sort(np.concatenate(repeated))


def mapped_keys(folder: BuildFolder, arrays: Mapping[str, StoredArray]) -> MappedKeys:
    """Open the written keys as memory-mapped arrays; return them with their index."""
    rows = _mapped(folder, arrays, "keys.rows")
    order = _mapped(folder, arrays, "keys.order") if "keys.order" in arrays else rows
    hashes = _mapped(folder, arrays, "keys.hashes")
    return MappedKeys(_stored_in(folder, arrays), hashes, rows, order)


def _mapped(folder: BuildFolder, arrays: Mapping[str, StoredArray], name: str) -> NDArray[Any]:
    return map_array(folder.place / f"{name}{SUFFIX}", arrays[name])


def _stored_in(folder: BuildFolder, arrays: Mapping[str, StoredArray]) -> Stored:
    if "keys.integers" in arrays:
        return _mapped(folder, arrays, "keys.integers")
    letters, bounds = (_mapped(folder, arrays, f"keys.{part}") for part in ("letters", "bounds"))
    return PackedTexts(letters, bounds)


def _in_row_order(
    folder: BuildFolder,
    batches: Iterable[Stored],
    count: int,
    index: Buckets,
    order: Buckets,
    listener: Listener,
) -> StoredArrays:
    """Write keys in row order, and add their hashes to the buckets of the index."""
    writers, number = dict[str, ArrayWriter](), 0
    for keys in batches:
        rows = np.arange(number, number := number + len(keys))
        index.add(_records(index_hashes(keys), rows))
        if isinstance(keys, PackedTexts):
            order.add(_records(text_hashes(keys.encoded()), rows))
            if not writers:
                types = {"letters": np.uint8, "bounds": np.int64}
                writers = {part: folder.writer(f"keys.{part}", types[part]) for part in types}
                writers["bounds"].add(np.zeros(1, dtype=np.int64))
            writers["bounds"].add(keys.bounds[1:] + writers["letters"].length)
            writers["letters"].add(keys.written)
        else:
            if not writers:
                writers = {"integers": folder.writer("keys.integers", np.int64)}
            writers["integers"].add(keys)
        listener.step("keys", number, count)
    if "letters" in writers:
        writers["letters"].add(padding(writers["letters"].length))
    return {f"keys.{part}": writer.close() for part, writer in writers.items()}


def _records(hashes: NDArray[np.uint64], rows: IntArray) -> Records:
    records = np.empty(rows.size, dtype=_RECORD)
    records["hash"], records["row"] = hashes, rows
    return records


def _sorted(buckets: Buckets) -> Iterator[Records]:
    for _, _, records in buckets.parts():
        # Rows with equal hashes stay in ascending order, because rows were added in this order and
        # the sort is stable.
        yield records[np.argsort(records["hash"], kind="stable")]


def _repeated(records: Records, keys: Stored) -> NDArray[np.int64]:
    """Return the rows whose key occurs in an earlier row.

    Only keys with equal hashes are compared.
    """
    hashes = records["hash"]
    alike = np.zeros(hashes.size, dtype=bool)
    alike[1:] = hashes[1:] == hashes[:-1]
    alike[:-1] |= alike[1:]
    rows, known, repeated = records["row"][alike], set[str | int](), []
    values = keys.at(rows) if isinstance(keys, PackedTexts) else keys[rows].tolist()
    for row, key in zip(rows.tolist(), values, strict=True):
        if key in known:
            repeated.append(row)
        known.add(key)
    return np.array(repeated, dtype=np.int64)
