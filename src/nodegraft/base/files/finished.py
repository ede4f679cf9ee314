"""Finished files: flushed to the disk, and their checksums beside them in ``NAME.hash``."""

import os
from pathlib import Path
from uuid import uuid4

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
