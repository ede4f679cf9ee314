"""Cache on disk for arrays that are computed from the graphs of a store."""

import shutil
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import numpy as np
from safetensors.numpy import load, save

from nodegraft.base.files.bundle import Arrays
from nodegraft.base.hashing import HashPart, content_hash
from nodegraft.graph.graph import Graph
from nodegraft.graph.stores import ArrayCache

DERIVED = "derived"
"""Name of the subfolder of a store that contains the cache."""

UNFINISHED = "unfinished-"
"""Name prefix of folders in which a graph is being written."""

SCHEMA = "3"
"""Version number of the cached values. Increase it to make old files be ignored."""

CHECKSUM = 4
"""Length in bytes of the checksum at the start of a cache file; CRC-32 is faster than a hash."""


class FolderCache(ArrayCache):
    """Cache of arrays in the files of a folder, which may be deleted at any time.

    Writes are not flushed to disk, and are skipped if the disk is full or read-only. A damaged file
    is treated as missing.

    Args:
        place: Folder of the graph's cache, which need not exist yet.
        part: Hash of the inputs that all values in this part of the cache depend on.
        base: Name of the cache folder of the graph that this graph grew from; None if it did not
            grow.
    """

    keeps = True

    def __init__(self, place: Path, part: str = SCHEMA, base: str | None = None) -> None:
        self._place = place
        self._part = part
        self._base = base or place.name

    def __eq__(self, other: object) -> bool:
        """Return whether both caches use the same files."""
        if not isinstance(other, FolderCache):
            return NotImplemented
        return (self._place, self._part) == (other._place, other._part)

    def __hash__(self) -> int:
        return hash((self._place, self._part))

    @property
    def base(self) -> "FolderCache":
        """Cache of the graph that this graph grew from; this cache if the graph did not grow."""
        return FolderCache(self._place.parent / self._base, self._part)

    @property
    def graph(self) -> str:
        """Name of the object that stores the graph."""
        return self._place.name

    def under(self, *depends_on: HashPart) -> "FolderCache":
        """Return a cache in the same folder whose values depend on further inputs, too."""
        return FolderCache(self._place, content_hash(self._part, *depends_on), self._base)

    def get(self, *depends_on: HashPart) -> Arrays | None:
        """Return the arrays cached for the given inputs; None if they are not cached."""
        try:
            content = self._file(*depends_on).read_bytes()
        except OSError:
            return None
        checksum, body = content[:CHECKSUM], content[CHECKSUM:]
        return load(body) if _checksum(body) == checksum else None

    def put(self, arrays: Arrays, *depends_on: HashPart) -> None:
        """Write arrays to the cache for the given inputs; ignore errors of the file system."""
        # safetensors ignores strides, so the memory must be in C order.
        body = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
        draft = self._place / f".{uuid4().hex}"
        if self._place.is_symlink() or self._place.parent.is_symlink():
            # Do not write through a symbolic link, which may point to a folder outside the store.
            return
        with suppress(OSError):
            self._place.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(_checksum(body) + body)
                draft.replace(self._file(*depends_on))
            finally:
                draft.unlink(missing_ok=True)

    def drop(self, *depends_on: HashPart) -> None:
        """Delete the arrays cached for the given inputs."""
        with suppress(OSError):
            self._file(*depends_on).unlink()

    def _file(self, *depends_on: HashPart) -> Path:
        return self._place / content_hash(self._part, *depends_on)


def _checksum(body: bytes) -> bytes:
    return crc32(body).to_bytes(CHECKSUM, "little")


def cache_of(store: Path, graph: str, base: str | None = None) -> FolderCache:
    """Return the cache of a graph.

    Args:
        base: Name of the object that stores the graph that it grew from; None if it did not grow.
    """
    return FolderCache(store / DERIVED / graph, base=base)


def stored_name(graph: Graph) -> str:
    """Return the name of the object that stores a graph of a store."""
    cache = graph._store.array_cache
    if not isinstance(cache, FolderCache):
        raise TypeError("The graph is not stored: call States.put_graph first.")
    return cache.graph


def clear_caches(store: Path, graphs: Collection[str], abandoned: datetime) -> None:
    """Delete the caches of unused graphs, and unfinished graphs of killed processes.

    Args:
        graphs: Names of the graph objects whose caches are kept.
        abandoned: Unfinished graphs are kept if one of their files was written at or after this
            time.
    """
    if (store / DERIVED).is_symlink():
        return
    for place in (store / DERIVED).glob("*"):
        if place.is_symlink():
            continue
        is_written = place.name.startswith(UNFINISHED) and _written(place) >= abandoned
        if place.name not in graphs and not is_written:
            shutil.rmtree(place, ignore_errors=True)


def _written(place: Path) -> datetime:
    try:
        # Check the files too, because writing to a file does not change the time of its folder.
        latest = max(path.stat().st_mtime for path in (place, *place.rglob("*")))
        return datetime.fromtimestamp(latest, UTC)
    except FileNotFoundError:
        return datetime.max.replace(tzinfo=UTC)
