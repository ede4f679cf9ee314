"""Checksums beside files: ``NAME.hash`` holds the hash of ``NAME``."""

from pathlib import Path
from uuid import uuid4

from nodegraft.base.hashing import file_hash

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
    """Return whether a file matches its checksum; None if it has none, so it is not finished.

    Args:
        path: The file.
    """
    try:
        written = _sidecar(path).read_bytes()
    except FileNotFoundError:
        return None
    return written == f"{file_hash(path)}\n".encode()


def _sidecar(path: Path) -> Path:
    return path.with_name(path.name + SIDECAR)
