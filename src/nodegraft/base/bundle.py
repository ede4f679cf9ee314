"""Arrays plus JSON in one directory, written whole or not at all. No pickle, ever."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from safetensors.numpy import load_file, save_file

from nodegraft.base.errors import CheckpointError

ARRAYS = "arrays.safetensors"
DOCUMENT = "document.json"


def write_bundle(
    directory: Path,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    document: Mapping[str, Any],
    texts: Mapping[str, str] | None = None,
) -> None:
    """Write a new directory, with text files of the caller's; refuses to touch one that exists."""
    if directory.exists():
        raise CheckpointError(
            f"{directory} exists already and is never overwritten: choose a new name."
        )
    draft = directory.parent / f".{directory.name}.{uuid4().hex}"
    try:
        draft.mkdir(parents=True)
        plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
        save_file(plain, draft / ARRAYS)
        (draft / DOCUMENT).write_text(json.dumps(document, indent=2, sort_keys=True) + "\n")
        for name, text in (texts or {}).items():
            (draft / name).write_text(text)
        for path in (*draft.iterdir(), draft):
            _flush_to_disk(path)
        draft.rename(directory)
        _flush_to_disk(directory.parent)
    except OSError as error:
        raise CheckpointError(f"{directory} could not be written: {error}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_bundle(directory: Path) -> tuple[dict[str, np.ndarray[Any, Any]], dict[str, Any]]:
    """The arrays and the JSON document of a directory written by :func:`write_bundle`."""
    try:
        document = json.loads((directory / DOCUMENT).read_text())
        return load_file(directory / ARRAYS), document
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{directory} is not a saved directory: {Path(error.filename).name} is missing."
        ) from error
    except Exception as error:
        raise CheckpointError(f"{directory} cannot be read: {error}") from error


def _flush_to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
