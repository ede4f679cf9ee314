"""Arrays and JSON objects that are named by the hash of their content.

Two versions share equal objects, and a damaged object is found because its name no longer fits.
Objects are written before the row that names them: an interrupted process leaves files that no
version names, and never a row without its files.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from nodegraft.base.errors import StoreError
from nodegraft.base.files.array_file import StoredArray
from nodegraft.base.files.bundle import Arrays, Document
from nodegraft.base.files.folder import StoredFile, WriteOnceFolder

Value = TypeVar("Value")

OBJECT_NAME = re.compile("[0-9a-f]{64}")
"""The name of an object: a hash."""

MARKER = "store-id"
"""The file among a store's objects that says whose they are."""

_DRAFT = re.compile(r"\.[0-9a-f]{64}\.[0-9a-f]{32}")
_REMOVED = re.compile(r"\.removed\.([0-9a-f]{64}\.)?[0-9a-f]{32}")
_MARKER = re.compile("[0-9a-f]{32}")
_ARRAY_FILE = b"\x93NUMPY"


class Objects:
    """A folder, here or wherever fsspec reaches, of files that are named by their SHA-256.

    >>> objects = Objects("memory://doc/objects")
    >>> name = objects.put({"x": np.arange(3)}, {"of": "hats"})
    >>> name == objects.put({"x": np.arange(3)}, {"of": "hats"}), objects.get(name)[1]
    (True, {'of': 'hats'})

    Args:
        place: The folder, which need not exist yet.
        in_store: Whether it is the folder that a store has for its objects unless its settings
            name another place.
    """

    def __init__(self, place: str | Path, in_store: bool = False) -> None:
        self._folder = WriteOnceFolder(place)
        self.in_store = in_store
        """Whether the place is the store's own folder."""

    @property
    def place(self) -> str:
        """Where the objects are."""
        return self._folder.place

    @property
    def is_link(self) -> bool:
        """Whether the place is a symbolic link."""
        local = self._folder.local_path("")
        return local is not None and local.is_symlink()

    def marker(self) -> str | None:
        """Return the id of the store whose place this is; None where nobody has put one."""
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
        """Write down whose place this is; return the id that is written there.

        Args:
            store_id: The id of the store.
        """
        with told_as_unwritable(self.place):
            self._folder.write(MARKER, f"{store_id}\n".encode())
        return self.marker() or store_id

    def put(self, arrays: Mapping[str, NDArray[Any]], document: Mapping[str, Any]) -> str:
        """Keep arrays and JSON; the name under which they are found again.

        Every array is a file of its own, and so is the list of them, written last: what is named
        is whole.

        Args:
            arrays: Arrays of numbers, by name.
            document: Plain JSON.
        """
        parts = {name: self.put_array(array) for name, array in arrays.items()}
        return self.put_list(parts, document)

    def put_array(self, array: NDArray[Any]) -> str:
        """Keep an array that some list will name; its name there.

        Args:
            array: Numbers.
        """
        return self._write(_packed(array))

    def put_list(self, parts: Mapping[str, str], document: Mapping[str, Any]) -> str:
        """Keep JSON beside files that are kept already; the name under which it is found again.

        Args:
            parts: What :meth:`put_array` and :meth:`put_file` gave, by name.
            document: Plain JSON.
        """
        listed = {"arrays": dict(parts), "document": document}
        return self._write(json.dumps(listed, sort_keys=True, ensure_ascii=False).encode())

    def put_file(self, path: Path, stored: StoredArray) -> str:
        """Keep an array that lies in a file, by a hard link where the file system allows.

        It is named by the hash that was taken of its numbers when it was written: nothing is read.

        Args:
            path: The file, which nobody writes into any more.
            stored: What is known of it.
        """
        told = json.dumps(["array file", stored.to_json()], sort_keys=True)
        name = hashlib.sha256(told.encode()).hexdigest()
        with told_as_unwritable(self._folder.place):
            self._folder.adopt(name, path)
        return name

    @property
    def are_local(self) -> bool:
        """Whether files lie on this machine, where they can be mapped."""
        return self._folder.local_path("") is not None

    def paths(self, name: str) -> dict[str, Path]:
        """Where the files of an object lie on this machine; they are not read.

        Args:
            name: What :meth:`put_list` gave.
        """
        found = {part: self._folder.local_path(file) for part, file in self.parts(name).items()}
        places = {part: path for part, path in found.items() if path is not None}
        for path in places.values():
            if path.is_symlink():
                raise StoreError(f"{path} is a symbolic link, and a store follows none.")
        return places

    def get(self, name: str, prefix: str = "") -> tuple[Arrays, Document]:
        """What :meth:`put` was given; a file that is missing or damaged is told.

        Args:
            name: What it gave.
            prefix: Only arrays whose names begin so are read.
        """
        parts, document = self._listed(name)
        some = {part: place for part, place in parts.items() if part.startswith(prefix)}
        return {part: self._array(place) for part, place in some.items()}, document

    def document(self, name: str) -> Document:
        """The JSON that :meth:`put` was given; arrays are not read.

        Args:
            name: What it gave.
        """
        return self._listed(name)[1]

    def parts(self, name: str) -> dict[str, str]:
        """Return the files of an object by the names of its arrays.

        Args:
            name: What :meth:`put_list` gave.
        """
        return {part: _object_name(file) for part, file in self._listed(name)[0].items()}

    def check(self, name: str, array_files: bool = False) -> None:
        """Refuse a file that is missing or not as it was written.

        Args:
            name: Its name.
            array_files: Whether to leave alone arrays that were taken in as files: their hash is
                known to the list that names them.
        """
        content = self._content(name)
        if not (array_files and content.startswith(_ARRAY_FILE)):
            self._require_hash(name, content)

    def path_text(self, name: str) -> str:
        """Return where a file lies, for messages.

        Args:
            name: Its name.
        """
        return f"{self._folder.place}/{str(name)[:80]}"

    def names_in(self, names: Iterable[str]) -> set[str]:
        """All files that some objects are made of.

        Args:
            names: What :meth:`put` gave.
        """
        found: set[str] = set()
        for name in set(names):
            found |= {name, *self._listed(name)[0].values()}
        return found

    def lacks(self, names: Iterable[str]) -> bool:
        """Whether some objects are not whole: one of their files is gone.

        Args:
            names: What :meth:`put` gave.
        """
        lists = set(names)
        if not all(self._folder.has(_object_name(name)) for name in lists):
            return True
        return not all(self._folder.has(_object_name(name)) for name in self.names_in(lists))

    def files(self) -> dict[str, StoredFile]:
        """Return the files of the object scheme, those too that a killed process has left.

        Anything else in the folder is not the store's: it is neither listed nor deleted.
        """
        files, schemes = self._folder.files(), (OBJECT_NAME, _DRAFT, _REMOVED)
        return {
            name: file
            for name, file in files.items()
            if any(scheme.fullmatch(name) for scheme in schemes)
        }

    @staticmethod
    def is_set_aside(name: str) -> bool:
        """Whether a file was renamed to be deleted.

        Args:
            name: Its name.
        """
        return _REMOVED.fullmatch(name) is not None

    def set_aside(self, name: str) -> str:
        """Rename a file that is to be deleted; return its new name, which no version can need.

        Args:
            name: Its name; objects must be on this machine.
        """
        if self.is_set_aside(name):
            return name
        kept = f"{name}." if OBJECT_NAME.fullmatch(name) else ""
        other = f".removed.{kept}{uuid4().hex}"
        with self._told_as_kept(name):
            self._folder.rename(name, other)
        return other

    def remove(self, name: str) -> None:
        """Take one file away.

        Args:
            name: Its name.
        """
        with self._told_as_kept(name):
            self._folder.remove(name)

    @contextmanager
    def _told_as_kept(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{self._folder.place}/{name} cannot be removed: {error.strerror or error}. Run "
                "it again to remove the rest."
            ) from error

    def _write(self, content: bytes) -> str:
        name = hashlib.sha256(content).hexdigest()
        with told_as_unwritable(self._folder.place):
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

    def _listed(self, name: str) -> tuple[dict[str, str], Document]:
        def parsed(content: bytes) -> tuple[dict[str, str], Document]:
            listed = json.loads(content)
            return dict(listed["arrays"]), dict(listed["document"])

        return _understood(name, parsed, self._read(name))

    def _array(self, name: str) -> NDArray[Any]:
        def parsed(content: bytes) -> NDArray[Any]:
            array: NDArray[Any] = load(content)["array"]
            return array

        return _understood(name, parsed, self._read(name))


@contextmanager
def told_as_unwritable(place: object) -> Iterator[None]:
    """Say in a store's words that nothing could be written.

    Args:
        place: Where to.
    """
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{place} cannot be written to: {error.strerror or error}. The store is as it was "
            "before."
        ) from error


def _object_name(name: object) -> str:
    """Return an object name, or raise an error: no list leads to a file outside of the store."""
    if not isinstance(name, str) or not OBJECT_NAME.fullmatch(name):
        raise StoreError(f"{str(name)[:80]!r} is no name of an object of a store.")
    return name


def _packed(array: NDArray[Any]) -> bytes:
    # Not ascontiguousarray: that makes a row out of a single number.
    packed: bytes = save({"array": np.asarray(array, order="C")})
    return packed


def _understood(name: str, read: Callable[[bytes], Value], content: bytes) -> Value:
    try:
        return read(content)
    except (ValueError, KeyError, TypeError, AttributeError, SafetensorError) as error:
        raise StoreError(f"Object {name} of the store holds something else: {error}.") from error
