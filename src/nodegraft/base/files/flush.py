"""Flush files to the disk."""

import os
from pathlib import Path


def flush_to_disk(path: Path) -> None:
    """Wait until a file, or the list of a folder's files, would survive a power cut.

    Args:
        path: A file or a folder.
    """
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
