"""What took long to work out about the graphs of a store, for the next process."""

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
from nodegraft.graph.stores.protocol import ArrayCache

DERIVED = "derived"
"""Folder of the caches in a store."""

UNFINISHED = "unfinished-"
"""How folders begin in which a graph is being written."""

SCHEMA = "3"
"""To be changed when what is kept is worked out in another way: old files are no longer found."""

CHECKSUM = 4
"""Bytes before the arrays, against files that were cut: eight times as fast as a hash."""


class FolderCache(ArrayCache):
    """Files in a folder, which may be deleted at any time: what is missing is worked out again.

    Nothing waits for the disk, and nothing fails where it is full or may not be written to. A file
    that is not as it was written counts as missing.

    Args:
        place: The folder, which need not exist yet.
        part: What all that is on this part of it depends on.
        base: The name of the folder beside it for the graph that this one grew from; its own by
            default.
    """

    keeps = True

    def __init__(self, place: Path, part: str = SCHEMA, base: str | None = None) -> None:
        self._place = place
        self._part = part
        self._base = base or place.name

    def __eq__(self, other: object) -> bool:
        """Return whether two caches read and write the same files, whatever their base graph."""
        if not isinstance(other, FolderCache):
            return NotImplemented
        return (self._place, self._part) == (other._place, other._part)

    def __hash__(self) -> int:
        return hash((self._place, self._part))

    @property
    def base(self) -> "FolderCache":
        """Cache of the graph that this one grew from; itself if it did not grow."""
        return FolderCache(self._place.parent / self._base, self._part)

    @property
    def graph(self) -> str:
        """The object that holds the graph."""
        return self._place.name

    def under(self, *depends_on: HashPart) -> "FolderCache":
        """The part of it for what depends on this, too.

        Args:
            depends_on: Beside the graph.
        """
        return FolderCache(self._place, content_hash(self._part, *depends_on), self._base)

    def get(self, *depends_on: HashPart) -> Arrays | None:
        """What was put; None where it must be worked out.

        Args:
            depends_on: All that the arrays depend on.
        """
        try:
            content = self._file(*depends_on).read_bytes()
        except OSError:
            return None
        told, body = content[:CHECKSUM], content[CHECKSUM:]
        return load(body) if _checksum(body) == told else None

    def put(self, arrays: Arrays, *depends_on: HashPart) -> None:
        """Keep arrays, if that is possible.

        Args:
            arrays: The arrays.
            depends_on: All that they depend on.
        """
        # safetensors writes memory as it lies, whatever the order of dimensions.
        body = save({name: np.asarray(array, order="C") for name, array in arrays.items()})
        draft = self._place / f".{uuid4().hex}"
        if self._place.is_symlink() or self._place.parent.is_symlink():
            # It leads out of the store.
            return
        with suppress(OSError):
            self._place.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(_checksum(body) + body)
                draft.replace(self._file(*depends_on))
            finally:
                draft.unlink(missing_ok=True)

    def drop(self, *depends_on: HashPart) -> None:
        """Take away what nobody will ask for again.

        Args:
            depends_on: As it was put.
        """
        with suppress(OSError):
            self._file(*depends_on).unlink()

    def _file(self, *depends_on: HashPart) -> Path:
        return self._place / content_hash(self._part, *depends_on)


def _checksum(body: bytes) -> bytes:
    return crc32(body).to_bytes(CHECKSUM, "little")


def cache_of(store: Path, graph: str, base: str | None = None) -> FolderCache:
    """Return the cache of one graph.

    Args:
        store: The folder of the store.
        graph: The object that holds the graph.
        base: The object of the graph that it grew from, if it did.
    """
    return FolderCache(store / DERIVED / graph, base=base)


def name_of(graph: Graph) -> str | None:
    """Return the object that holds a graph; None if it was not read from a store.

    Args:
        graph: A graph.
    """
    cache = graph._store.array_cache
    return cache.graph if isinstance(cache, FolderCache) else None


def clear_caches(store: Path, graphs: Collection[str], abandoned: datetime) -> None:
    """Delete the caches of all graphs but some, and files that killed processes left.

    Args:
        store: The folder of the store.
        graphs: Objects of the graphs whose caches stay.
        abandoned: A graph that is being written is left alone if something was written later.
    """
    if (store / DERIVED).is_symlink():
        return
    for place in (store / DERIVED).glob("*"):
        if place.is_symlink():
            continue
        begun = place.name.startswith(UNFINISHED) and _written(place) >= abandoned
        if place.name not in graphs and not begun:
            shutil.rmtree(place, ignore_errors=True)


def _written(place: Path) -> datetime:
    try:
        # A folder is as old as its list: one of its files may have been written into for hours.
        latest = max(one.stat().st_mtime for one in (place, *place.rglob("*")))
        return datetime.fromtimestamp(latest, UTC)
    except FileNotFoundError:
        return datetime.max.replace(tzinfo=UTC)
