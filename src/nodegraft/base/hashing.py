"""Compute content hashes, which are equal for equal values on every machine."""

import hashlib
import json
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

HashPart: TypeAlias = np.ndarray[Any, Any] | str | int | list[Any] | dict[str, Any]

_BLOCK = 1 << 26


def content_hash(*parts: HashPart) -> str:
    """Return a hash of all arguments in their order, as 32 hexadecimal digits.

    >>> content_hash("a", "bc") == content_hash("ab", "c")
    False
    """
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        if isinstance(part, np.ndarray):
            digest.update(f"array {part.dtype.str} {part.shape}\n".encode())
            flat = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
            for start in range(0, flat.size, _BLOCK):
                digest.update(flat[start : start + _BLOCK].data)
        else:
            text = json.dumps(part, sort_keys=True)
            digest.update(f"json {len(text)}\n{text}".encode())
    return digest.hexdigest()


def file_hash(path: Path) -> str:
    """Return the hash of a file's content; the file is read in blocks to limit memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
