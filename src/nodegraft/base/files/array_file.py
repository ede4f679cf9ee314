"""One array in a file of its own (``.npy``): written piece by piece, mapped when it is read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.flush import flush_to_disk

SUFFIX = ".npy"

_BLOCK = 1 << 26
_KINDS = "iuf"


@dataclass(frozen=True)
class StoredArray:
    """What is known of an array without reading it."""

    dtype: str
    """The type of its numbers, as NumPy writes it: ``<i4``."""

    shape: tuple[int, ...]
    """How many there are, in each dimension."""

    digest: str
    """The hash of its numbers' bytes."""

    def to_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return {"dtype": self.dtype, "shape": list(self.shape), "digest": self.digest}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "StoredArray":
        """What :meth:`to_json` gave; anything else is a ``ValueError``.

        Args:
            document: Plain JSON.
        """
        dtype, shape, digest = document["dtype"], document["shape"], document["digest"]
        whole = isinstance(shape, list) and all(type(one) is int and one >= 0 for one in shape)
        plain = isinstance(dtype, str) and isinstance(digest, str)
        if not (whole and plain and np.dtype(dtype).kind in _KINDS):
            raise ValueError(f"{dtype!r} and {shape!r} are no type and shape of numbers")
        return cls(dtype, tuple(shape), digest)


class ArrayWriter:
    """Writes an array whose length is known when all of it has come.

    Args:
        path: The file; one that is there is written anew.
        dtype: The type of the numbers; what is added is turned into it.
        row: The shape of one item; none for single numbers.
    """

    def __init__(self, path: Path, dtype: Any, row: tuple[int, ...] = ()) -> None:
        self.length = 0
        self._path, self._dtype, self._row = path, np.dtype(dtype).newbyteorder("<"), row
        self._digest = hashlib.blake2b(digest_size=16)
        with path.open("wb") as file:
            self._write_header(file)

    def add(self, items: NDArray[Any]) -> None:
        """Write more items behind those there are.

        Args:
            items: One row each.
        """
        flat = np.ascontiguousarray(items, dtype=self._dtype).reshape(-1).view(np.uint8)
        with self._path.open("ab") as file:
            for start in range(0, flat.size, _BLOCK):
                block = flat[start : start + _BLOCK].data
                file.write(block)
                self._digest.update(block)
        self.length += len(items)

    def close(self) -> StoredArray:
        """Wait until all of it is on the disk."""
        with self._path.open("r+b") as file:
            # NumPy leaves room in its header for the length to grow.
            self._write_header(file)
        flush_to_disk(self._path)
        shape = (self.length, *self._row)
        return StoredArray(self._dtype.str, shape, self._digest.hexdigest())

    def _write_header(self, file: BinaryIO) -> None:
        header = {"descr": self._dtype.str, "fortran_order": False}
        npy.write_array_header_1_0(file, {**header, "shape": (self.length, *self._row)})


def map_array(path: Path, stored: StoredArray) -> NDArray[Any]:
    """The array in a file, mapped: its numbers are read when they are asked for.

    Args:
        path: The file.
        stored: What it must hold.
    """
    dtype, start = np.dtype(stored.dtype), _header_size(path, stored)
    if path.stat().st_size != start + dtype.itemsize * prod(stored.shape):
        raise CheckpointError(f"{path} is cut short or too long: it was not written to its end.")
    if 0 in stored.shape:
        # There is nothing to map.
        return np.empty(stored.shape, dtype=dtype)
    mapped: NDArray[Any] = np.asarray(np.memmap(path, dtype, "r", start, stored.shape))
    return mapped


def _header_size(path: Path, stored: StoredArray) -> int:
    try:
        with path.open("rb") as file:
            npy.read_magic(file)
            shape, columns_first, dtype = npy.read_array_header_1_0(file)
            start = file.tell()
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} is missing.") from error
    except (OSError, ValueError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    if (dtype.str, shape, columns_first) != (stored.dtype, stored.shape, False):
        raise CheckpointError(
            f"{path} holds {dtype.str} of shape {shape}; {stored.dtype} of shape {stored.shape} "
            "was written there."
        )
    return start


def is_unchanged(array: NDArray[Any], stored: StoredArray) -> bool:
    """Whether every bit of an array is as it was written; all of it is read.

    Args:
        array: What :func:`map_array` gave.
        stored: What was written.
    """
    digest = hashlib.blake2b(digest_size=16)
    flat = array.reshape(-1).view(np.uint8)
    for start in range(0, flat.size, _BLOCK):
        digest.update(flat[start : start + _BLOCK].data)
    return digest.hexdigest() == stored.digest
