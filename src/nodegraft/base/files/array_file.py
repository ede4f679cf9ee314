"""One array in a file (``.npy``), written piece by piece and mapped; checksums of files."""

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, BinaryIO
from uuid import uuid4

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError, DamagedFileError
from nodegraft.base.hashing import file_hash


def flush_to_disk(path: Path) -> None:
    """Wait until a file, or the list of a folder's files, would survive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


SIDECAR = ".hash"


def write_sidecar(path: Path) -> None:
    """Write the checksum of a finished file beside it, whole or not at all.

    Args:
        path: The file, which nobody writes into any more.
    """
    draft = path.with_name(f".{uuid4().hex}")
    draft.write_text(file_hash(path) + "\n")
    draft.replace(_sidecar(path))


def matches_sidecar(path: Path) -> bool | None:
    """Return whether a file matches its checksum; None if it has none, so it is not finished."""
    try:
        written = _sidecar(path).read_bytes()
    except FileNotFoundError:
        return None
    return written == f"{file_hash(path)}\n".encode()


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + SIDECAR)


SUFFIX = ".npy"

CHECKED_BYTES = 1 << 26
"""Arrays up to this size are compared with their hash once per process, when they are mapped."""

_BLOCK = 1 << 26
_checked: set[tuple[str, str, int, int]] = set()
"""Path, hash, inode and time of each file that was compared."""
_KINDS = "iuf"
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"{'descr': '(?P<dtype>[^']+)', 'fortran_order': False, "
    rb"'shape': (?P<shape>\([0-9, ]*\)), } *\n"
)


@dataclass(frozen=True)
class StoredArray:
    """Type, shape and hash of a stored array."""

    dtype: str
    """The type of its numbers, as NumPy writes it: ``<i4``."""

    shape: tuple[int, ...]
    """How many there are, in each dimension."""

    digest: str
    """The hash of its numbers' bytes."""

    def to_json(self) -> dict[str, Any]:
        """Return the description as plain JSON."""
        return {"dtype": self.dtype, "shape": list(self.shape), "digest": self.digest}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "StoredArray":
        """Return the array described by :meth:`to_json`; raise ValueError for anything else."""
        dtype, shape, digest = document["dtype"], document["shape"], document["digest"]
        whole = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
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
        """Write more items behind those there are."""
        flat = np.ascontiguousarray(items, dtype=self._dtype).reshape(-1).view(np.uint8)
        with self._path.open("ab") as file:
            for start in range(0, flat.size, _BLOCK):
                block = flat[start : start + _BLOCK].data
                file.write(block)
                self._digest.update(block)
        self.length += len(items)

    def close(self) -> StoredArray:
        """Write the final header and flush the file to the disk; return its description."""
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
    """Map the array in a file into memory.

    Args:
        stored: What it must hold.
    """
    dtype, start = np.dtype(stored.dtype), _header_size(path, stored)
    if path.stat().st_size != start + dtype.itemsize * prod(stored.shape):
        raise DamagedFileError(path, "it is too short or too long")
    if 0 in stored.shape:
        # An empty array cannot be memory-mapped.
        return np.empty(stored.shape, dtype=dtype)
    mapped: NDArray[Any] = np.asarray(np.memmap(path, dtype, "r", start, stored.shape))
    return mapped


def map_checked(path: Path, stored: StoredArray) -> NDArray[Any]:
    """Map an array; one of up to `CHECKED_BYTES` is compared with its hash, once per process.

    Args:
        stored: What it must hold.
    """
    array, about = map_array(path, stored), path.stat()
    seen = str(path), stored.digest, about.st_ino, about.st_mtime_ns
    if array.nbytes <= CHECKED_BYTES and seen not in _checked:
        require_unchanged(path, array, stored)
        _checked.add(seen)
    return array


def require_unchanged(path: Path, array: NDArray[Any], stored: StoredArray) -> None:
    """Refuse an array that is not as it was written; all of it is read."""
    if not is_unchanged(array, stored):
        raise DamagedFileError(path, "its checksum is wrong")


def _header_size(path: Path, stored: StoredArray) -> int:
    """Return where the numbers begin; the header must be as :class:`ArrayWriter` writes it.

    Not read by NumPy, which accepts headers that it would not write: one flipped bit must not pass.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC) + 2)
            length = int.from_bytes(start[len(_MAGIC) :], "little")
            header = _HEADER.fullmatch(file.read(length))
    except FileNotFoundError as error:
        raise CheckpointError(f"{path} is missing.") from error
    except OSError as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from error
    if not start.startswith(_MAGIC) or header is None:
        raise DamagedFileError(path, "its header is not as it was written")
    dtype, shape = header["dtype"].decode("latin-1"), header["shape"].decode()
    if (dtype, shape) != (stored.dtype, repr(stored.shape)):
        raise CheckpointError(
            f"{path} holds {dtype} of shape {shape}; {stored.dtype} of shape {stored.shape} "
            "was written there."
        )
    return len(start) + length


def is_unchanged(array: NDArray[Any], stored: StoredArray) -> bool:
    """Return whether every bit of an array is as it was written, by reading all of it."""
    digest = hashlib.blake2b(digest_size=16)
    flat = array.reshape(-1).view(np.uint8)
    for start in range(0, flat.size, _BLOCK):
        digest.update(flat[start : start + _BLOCK].data)
    return digest.hexdigest() == stored.digest
