"""Write and read directories with arrays and a JSON document, atomically and without pickle."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.array_file import flush_to_disk
from nodegraft.base.hashing import content_hash, file_hash

ARRAYS = "arrays.safetensors"
DOCUMENT = "document.json"
CHECKSUM = "checksum"

Arrays: TypeAlias = dict[str, np.ndarray[Any, Any]]
Document: TypeAlias = dict[str, Any]


def write_bundle(
    directory: Path,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    document: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write arrays and a JSON document to a new directory; never overwrite an existing directory.

    Args:
        document: JSON document. A checksum of the document and the arrays is written with it.
        texts: Content of additional text files by file name; None for no files.
    """
    draft = directory.parent / f".{directory.name}.{uuid4().hex}"
    try:
        if directory.exists():
            raise CheckpointError(
                f"{directory} already exists and is never overwritten: choose a new name."
            )
        draft.mkdir(parents=True)
        # Use asarray, because ascontiguousarray would make a 0-dimensional array 1-dimensional.
        plain = {name: np.asarray(array, order="C") for name, array in arrays.items()}
        save_file(plain, draft / ARRAYS)
        signed = {**document, CHECKSUM: _checksum(document, draft)}
        (draft / DOCUMENT).write_text(json.dumps(signed, indent=2) + "\n")
        for name, text in (texts or {}).items():
            (draft / name).write_text(text, encoding="utf-8")
        for path in (*draft.iterdir(), draft):
            flush_to_disk(path)
        draft.rename(directory)
        flush_to_disk(directory.parent)
    except (OSError, ValueError, TypeError, SafetensorError) as error:
        raise CheckpointError(f"{directory} could not be written: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_bundle(directory: Path) -> tuple[Arrays, dict[str, Any]]:
    """Verify the checksum of a directory; return its arrays and its JSON document."""
    try:
        document = dict(json.loads((directory / DOCUMENT).read_text()))
        whole = document.pop(CHECKSUM, None) == _checksum(document, directory)
        arrays = load_file(directory / ARRAYS)
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{directory} is not a saved directory: {Path(error.filename).name} is missing."
        ) from error
    except Exception as error:
        raise CheckpointError(f"{directory} cannot be read: {error}") from error
    if not whole:
        raise CheckpointError(
            f"{directory} is damaged: {DOCUMENT} or {ARRAYS} is not as it was written."
        )
    return arrays, document


def prefixed(prefix: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """Add a prefix to the names of arrays, so that several sets of arrays fit into one bundle."""
    return {prefix + name: array for name, array in arrays.items()}


def under(prefix: str, arrays: Mapping[str, np.ndarray[Any, Any]]) -> Arrays:
    """Return the arrays whose names begin with a prefix, without the prefix.

    >>> list(under("a.", prefixed("a.", {"x": np.zeros(1)}) | {"y": np.zeros(1)}))
    ['x']
    """
    return {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }


def _checksum(document: Mapping[str, Any], directory: Path) -> str:
    return content_hash(json.loads(json.dumps(document)), file_hash(directory / ARRAYS))
