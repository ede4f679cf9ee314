"""Content-addressed files of a store: arrays and JSON, named by the hash of their content.

Versions share equal objects. Damage is detected because the hash of an object differs from its
name. Objects are written before the database row that names them, so an interrupted process may
leave unused files, but never a row without its files.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from nodegraft.base.errors import StoreError
from nodegraft.base.files.array_file import StoredArray
from nodegraft.base.files.bundle import Arrays, Document
from nodegraft.base.files.folder import StoredFile, WriteOnceFolder

OBJECT_NAME = re.compile("[0-9a-f]{64}")
"""Pattern of an object's name, which is a SHA-256 hash."""

MARKER = "store-id"
"""Marker file in an objects folder, with the id of the store that owns the folder."""

_DRAFT = re.compile(r"\.[0-9a-f]{64}\.[0-9a-f]{32}")
_REMOVED = re.compile(r"\.removed\.([0-9a-f]{64}\.)?[0-9a-f]{32}")
_MARKER = re.compile("[0-9a-f]{32}")
_ARRAY_FILE = b"\x93NUMPY"


class Objects:
    """Folder of files that are named by their SHA-256, on this machine or behind an fsspec URL.

    >>> objects = Objects("memory://doc/objects")
    >>> name = objects.put({"x": np.arange(3)}, {"of": "hats"})
    >>> name == objects.put({"x": np.arange(3)}, {"of": "hats"}), objects.get(name)[1]
    (True, {'of': 'hats'})

    Args:
        place: Path or URL of the folder, which need not exist yet.
        in_store: Whether this is the default folder, inside the folder of the store.
    """

    def __init__(self, place: str | Path, in_store: bool = False) -> None:
        self._folder = WriteOnceFolder(place)
        self.in_store = in_store
        """Whether this is the default folder, inside the folder of the store."""

    @property
    def place(self) -> str:
        """Path or URL of the folder."""
        return self._folder.place

    @property
    def is_link(self) -> bool:
        """Whether the folder is a symbolic link."""
        local = self._folder.local_path("")
        return local is not None and local.is_symlink()

    def marker(self) -> str | None:
        """Return the id of the store that owns this folder; None if there is no marker file."""
        try:
            content = self._folder.read(MARKER).decode().strip()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise StoreError(f"{self.place}/{MARKER} cannot be read: {error}.") from error
        if not _MARKER.fullmatch(content):
            raise StoreError(f"{self.place}/{MARKER} is no marker of a store.")
        return content

    def put_marker(self, store_id: str) -> str:
        """Write a store's id into the marker file unless the file exists; return the id in it."""
        with convert_write_errors(self.place):
            self._folder.write(MARKER, f"{store_id}\n".encode())
        return self.marker() or store_id

    def put(self, arrays: Mapping[str, NDArray[Any]], document: Mapping[str, Any]) -> str:
        """Write arrays and JSON; return the name of the object.

        Every array has its own file. The object's file, which lists them, is written last, so that
        an interrupted process leaves no incomplete object.
        """
        parts = {name: self.put_array(array) for name, array in arrays.items()}
        return self.put_list(parts, document)

    def put_array(self, array: NDArray[Any]) -> str:
        """Write an array; return its name for :meth:`put_list`."""
        return self._write(_packed(array))

    def put_list(self, parts: Mapping[str, str], document: Mapping[str, Any]) -> str:
        """Write an object with JSON and a list of arrays that are already written; return its name.

        Args:
            parts: Array name -> file name that :meth:`put_array` or :meth:`put_file` returned.
        """
        content_list = {"arrays": dict(parts), "document": document}
        return self._write(json.dumps(content_list, sort_keys=True, ensure_ascii=False).encode())

    def put_file(self, path: Path, stored: StoredArray) -> str:
        """Add an existing array file, by hard link if the file system allows; return its name.

        The name is computed from the hash that was recorded when the file was written, so the file
        is not read.

        Args:
            path: Path of the file, which no process may write to any more.
            stored: Type, shape and hash of the array.
        """
        header = json.dumps(["array file", stored.to_json()], sort_keys=True)
        name = hashlib.sha256(header.encode()).hexdigest()
        with convert_write_errors(self._folder.place):
            self._folder.adopt(name, path)
        return name

    @property
    def are_local(self) -> bool:
        """Whether the folder is on this machine, so that its files can be memory-mapped."""
        return self._folder.local_path("") is not None

    def paths(self, name: str) -> dict[str, Path]:
        """Return the paths of an object's array files on this machine, without reading them."""
        paths = {part: self._folder.local_path(file) for part, file in self.parts(name).items()}
        places = {part: path for part, path in paths.items() if path is not None}
        for path in places.values():
            if path.is_symlink():
                raise StoreError(f"{path} is a symbolic link, and a store follows none.")
        return places

    def get(self, name: str, prefix: str = "") -> tuple[Arrays, Document]:
        """Read arrays and JSON of an object; raise an error if a file is missing or damaged.

        Args:
            prefix: Read only arrays whose names start with this prefix.
        """
        parts, document = self._parts_and_document(name)
        some = {part: place for part, place in parts.items() if part.startswith(prefix)}
        return {part: self._array(place) for part, place in some.items()}, document

    def document(self, name: str) -> Document:
        """Read the JSON of an object, without its arrays."""
        return self._parts_and_document(name)[1]

    def parts(self, name: str) -> dict[str, str]:
        """Return the file name of each array of an object: array name -> file name."""
        return {
            part: _object_name(file) for part, file in self._parts_and_document(name)[0].items()
        }

    def check(self, name: str, array_files: bool = False) -> None:
        """Raise an error if a file is missing or its checksum is wrong.

        Args:
            array_files: Whether to skip array files that :meth:`put_file` added. Their names are
                not the hashes of their content; those hashes are in the objects that list them.
        """
        content = self._content(name)
        if not (array_files and content.startswith(_ARRAY_FILE)):
            self._require_hash(name, content)

    def path_text(self, name: str) -> str:
        """Return the path or URL of a file, for messages."""
        return f"{self._folder.place}/{str(name)[:80]}"

    def names_in(self, names: Iterable[str]) -> set[str]:
        """Return the names of all files of the given objects, including the objects themselves."""
        files: set[str] = set()
        for name in set(names):
            files |= {name, *self._parts_and_document(name)[0].values()}
        return files

    def lacks(self, names: Iterable[str]) -> bool:
        """Return whether any file of the given objects is missing."""
        lists = set(names)
        if not all(self._folder.has(_object_name(name)) for name in lists):
            return True
        return not all(self._folder.has(_object_name(name)) for name in self.names_in(lists))

    def files(self) -> dict[str, StoredFile]:
        """Return all files that belong to the store, including files left by killed processes.

        Files of other programs are recognised by their names, and are never deleted.
        """
        files, schemes = self._folder.files(), (OBJECT_NAME, _DRAFT, _REMOVED)
        return {
            name: file
            for name, file in files.items()
            if any(scheme.fullmatch(name) for scheme in schemes)
        }

    @staticmethod
    def is_set_aside(name: str) -> bool:
        """Return whether a file was renamed by :meth:`set_aside` and is to be deleted."""
        return _REMOVED.fullmatch(name) is not None

    def set_aside(self, name: str) -> str:
        """Rename a file before deleting it, so that no version can use it; return its new name.

        Args:
            name: Name of the file, which must be on this machine.
        """
        if self.is_set_aside(name):
            return name
        prefix = f"{name}." if OBJECT_NAME.fullmatch(name) else ""
        other = f".removed.{prefix}{uuid4().hex}"
        with self._not_removed(name):
            self._folder.rename(name, other)
        return other

    def remove(self, name: str) -> None:
        """Delete one file."""
        with self._not_removed(name):
            self._folder.remove(name)

    @contextmanager
    def _not_removed(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{self._folder.place}/{name} cannot be removed: {error.strerror or error}. Run "
                "it again to remove the rest."
            ) from error

    def _write(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        with convert_write_errors(self._folder.place):
            self._folder.write(name, content)
        return name

    def _read(self, name: str) -> bytes:
        content = self._content(name)
        self._require_hash(name, content)
        return content

    def _content(self, name: str) -> bytes:
        try:
            return self._folder.read(_object_name(name))
        except FileNotFoundError as error:
            raise StoreError(
                f"{self._folder.place}/{name} is missing, which a version needs: restore it from a "
                "backup. It may have been deleted, or copied while it was written."
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self._folder.place}/{name} cannot be read: {error.strerror or error}."
            ) from error

    def _require_hash(self, name: str, content: bytes) -> None:
        if hashlib.sha256(content).hexdigest() != name:
            raise StoreError(
                f"{self._folder.place}/{name} is damaged: its checksum is wrong. Restore it "
                "from a backup of the store."
            )

    def _parts_and_document(self, name: str) -> tuple[dict[str, str], Document]:
        with _readable(name):
            content = json.loads(self._read(name))
            return dict(content["arrays"]), dict(content["document"])

    def _array(self, name: str) -> NDArray[Any]:
        with _readable(name):
            array: NDArray[Any] = load(self._read(name))["array"]
            return array


@contextmanager
def convert_write_errors(place: object) -> Iterator[None]:
    """Convert an OSError to a StoreError that says that nothing was written."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{place} cannot be written to: {error.strerror or error}. The store is as it was "
            "before."
        ) from error


def _object_name(name: object) -> str:
    """Return an object name unchanged; refuse a path that could leave the store."""
    if not isinstance(name, str) or not OBJECT_NAME.fullmatch(name):
        raise StoreError(f"{str(name)[:80]!r} is no name of an object of a store.")
    return name


def _packed(array: NDArray[Any]) -> bytes:
    # Do not use ascontiguousarray, which converts a scalar into an array of shape (1,).
    packed: bytes = save({"array": np.asarray(array, order="C")})
    return packed


@contextmanager
def _readable(name: str) -> Iterator[None]:
    """Convert errors about the content of an object to a StoreError."""
    try:
        yield
    except (ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise StoreError(f"Object {name} of the store holds something else: {error}.") from error
