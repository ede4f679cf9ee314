"""Write array files (``.npy``) in pieces, memory-map them, and verify checksums of files."""

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
    """Flush a file or folder to disk (fsync), so that it survives a power failure."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


SIDECAR = ".hash"


def write_sidecar(path: Path) -> None:
    """Write the checksum of a finished file to a second file beside it, atomically.

    Args:
        path: Path of the finished file, whose content must not change after this call.
    """
    draft = path.with_name(f".{uuid4().hex}")
    draft.write_text(file_hash(path) + "\n")
    draft.replace(_sidecar(path))


def matches_sidecar(path: Path) -> bool | None:
    """Return whether a file matches the checksum stored beside it.

    The result is None if there is no checksum, because the file is then incomplete.
    """
    try:
        written = _sidecar(path).read_bytes()
    except FileNotFoundError:
        return None
    return written == f"{file_hash(path)}\n".encode()


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + SIDECAR)


SUFFIX = ".npy"

CHECKED_BYTES = 1 << 26
"""Maximum size in bytes of an array whose checksum is verified when it is memory-mapped."""

_BLOCK = 1 << 26
_checked: set[tuple[str, str, int, int]] = set()
"""Files verified by this process: path, checksum, inode and modification time of each."""
_KINDS = "iuf"
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"{'descr': '(?P<dtype>[^']+)', 'fortran_order': False, "
    rb"'shape': (?P<shape>\([0-9, ]*\)), } *\n"
)


@dataclass(frozen=True)
class StoredArray:
    """Description of an array in a file: number type, shape and checksum."""

    dtype: str
    """Number type of the array in NumPy's notation, such as ``<i4``."""

    shape: tuple[int, ...]
    """Shape of the array."""

    digest: str
    """Checksum of the array's bytes."""

    def to_json(self) -> dict[str, Any]:
        """Return this description as a JSON document."""
        return {"dtype": self.dtype, "shape": list(self.shape), "digest": self.digest}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "StoredArray":
        """Parse the result of :meth:`to_json`; raise ValueError if the type or shape is invalid."""
        dtype, shape, digest = document["dtype"], document["shape"], document["digest"]
        whole = isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)
        plain = isinstance(dtype, str) and isinstance(digest, str)
        if not (whole and plain and np.dtype(dtype).kind in _KINDS):
            raise ValueError(f"{dtype!r} and {shape!r} are no type and shape of numbers")
        return cls(dtype, tuple(shape), digest)


class ArrayWriter:
    """Writer of an array file whose length is not known in advance.

    Args:
        path: Path of the file to write; an existing file is overwritten.
        dtype: Number type of the file; appended items are converted to it.
        row: Shape of each item; empty if items are single numbers.
    """

    def __init__(self, path: Path, dtype: Any, row: tuple[int, ...] = ()) -> None:
        self.length = 0
        self._path, self._dtype, self._row = path, np.dtype(dtype).newbyteorder("<"), row
        self._digest = hashlib.blake2b(digest_size=16)
        with path.open("wb") as file:
            self._write_header(file)

    def add(self, items: NDArray[Any]) -> None:
        """Append items to the array file."""
        flat = np.ascontiguousarray(items, dtype=self._dtype).reshape(-1).view(np.uint8)
        with self._path.open("ab") as file:
            for start in range(0, flat.size, _BLOCK):
                block = flat[start : start + _BLOCK].data
                file.write(block)
                self._digest.update(block)
        self.length += len(items)

    def close(self) -> StoredArray:
        """Write the final header, flush the file to disk, and return a description of the array."""
        with self._path.open("r+b") as file:
            # The final header has the same size as the first one, because NumPy reserves space for
            # a larger length.
            self._write_header(file)
        flush_to_disk(self._path)
        shape = (self.length, *self._row)
        return StoredArray(self._dtype.str, shape, self._digest.hexdigest())

    def _write_header(self, file: BinaryIO) -> None:
        header = {"descr": self._dtype.str, "fortran_order": False}
        npy.write_array_header_1_0(file, {**header, "shape": (self.length, *self._row)})


def map_array(path: Path, stored: StoredArray) -> NDArray[Any]:
    """Return the array in a file, memory-mapped."""
    dtype, start = np.dtype(stored.dtype), _header_size(path, stored)
    if path.stat().st_size != start + dtype.itemsize * prod(stored.shape):
        raise DamagedFileError(path, "it is too short or too long")
    if 0 in stored.shape:
        # Create an empty array in memory, because NumPy cannot memory-map it.
        return np.empty(stored.shape, dtype=dtype)
    mapped: NDArray[Any] = np.asarray(np.memmap(path, dtype, "r", start, stored.shape))
    return mapped


def map_checked(path: Path, stored: StoredArray) -> NDArray[Any]:
    """Map an array; up to `CHECKED_BYTES`, verify its checksum once per process."""
    array, about = map_array(path, stored), path.stat()
    identity = str(path), stored.digest, about.st_ino, about.st_mtime_ns
    if array.nbytes <= CHECKED_BYTES and identity not in _checked:
        require_unchanged(path, array, stored)
        _checked.add(identity)
    return array


def require_unchanged(path: Path, array: NDArray[Any], stored: StoredArray) -> None:
    """Read a whole array, and raise DamagedFileError if its checksum is wrong."""
    if not is_unchanged(array, stored):
        raise DamagedFileError(path, "its checksum is wrong")


def _header_size(path: Path, stored: StoredArray) -> int:
    """Return the size of a file's header, which must be from :class:`ArrayWriter`.

    NumPy's own parser is not used, because it accepts some headers with a flipped bit.
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
    """Read a whole array, and return whether its checksum is correct."""
    digest = hashlib.blake2b(digest_size=16)
    flat = array.reshape(-1).view(np.uint8)
    for start in range(0, flat.size, _BLOCK):
        digest.update(flat[start : start + _BLOCK].data)
    return digest.hexdigest() == stored.digest
