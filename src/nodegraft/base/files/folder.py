"""Folders of files that are written once and never changed, local or remote (fsspec)."""

import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from nodegraft.base.errors import ParameterError
from nodegraft.base.files.array_file import flush_to_disk

READABLE, PRIVATE = 0o444, 0o600
"""File modes: readable by everybody; readable and writable by the owner only."""

WRITABLE = 0o222
"""Mode bits that are removed from adopted files."""


@dataclass(frozen=True)
class StoredFile:
    """Size and modification time of a file."""

    size: int
    """Size in bytes."""

    written: datetime
    """Time of the last write."""


class WriteOnceFolder:
    """Local or remote folder (``s3://bucket/runs``) whose files are written once, without locks.

    >>> folder = WriteOnceFolder("memory://doc/runs")
    >>> folder.write("a.json", b"{}"), folder.write("a.json", b"other"), folder.read("a.json")
    (True, False, b'{}')
    >>> folder.names(".json")
    ['a.json']

    Args:
        place: Path or URL of the folder, which need not exist yet.
    """

    def __init__(self, place: str | Path) -> None:
        try:
            self._files, self._path = _reached(place)
        except (ImportError, ValueError) as error:
            raise ParameterError(f"{place} cannot be reached: {error}") from error
        self.place = str(place).rstrip("/")

    def names(self, suffix: str) -> list[str]:
        """Return the sorted names of files that end in `suffix`."""
        if not self._files.isdir(self._path):
            return []
        # Another process may have moved files since the last listing.
        self._files.invalidate_cache()
        found = (path.rpartition("/")[2] for path in self._files.ls(self._path, detail=False))
        return sorted(name for name in found if name.endswith(suffix) and name[0] != ".")

    def files(self) -> dict[str, StoredFile]:
        """Return all files by name, including drafts of killed writers, but no symbolic links."""
        with _told_as_os_error():
            self._files.invalidate_cache()
            if not self._files.isdir(self._path):
                return {}
            found = {}
            for path in self._files.ls(self._path, detail=False):
                if self._is_link(path):
                    continue
                try:
                    size, written = self._files.size(path), self._files.modified(path)
                except FileNotFoundError:
                    # A draft file was renamed after the folder was listed.
                    continue
                found[path.rpartition("/")[2]] = StoredFile(size, written.astimezone(UTC))
            return found

    def _is_link(self, path: str) -> bool:
        return isinstance(self._files, LocalFileSystem) and Path(path).is_symlink()

    def has(self, name: str) -> bool:
        """Return whether a file exists."""
        with _told_as_os_error():
            # Another host may have deleted the file since the last listing.
            self._files.invalidate_cache()
            return bool(self._files.exists(f"{self._path}/{name}"))

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        with _told_as_os_error():
            self._refuse_special(name)
            content: bytes = self._files.cat_file(f"{self._path}/{name}")
            return content

    def _refuse_special(self, name: str) -> None:
        """Raise OSError for symbolic links and special files such as pipes."""
        place = self.local_path(name)
        if place is not None and not stat.S_ISREG(place.lstat().st_mode):
            raise OSError(f"{place} is a symbolic link or no plain file")

    def write(self, name: str, content: bytes, mode: int = READABLE) -> bool:
        """Write a file atomically; return False and change nothing if it exists.

        Args:
            name: Name of the file.
            content: Content of the file.
            mode: File mode; used for local folders only.
        """
        try:
            with _told_as_os_error():
                self._make()
                if isinstance(self._files, LocalFileSystem):
                    _link(Path(self._path) / name, content, mode)
                else:
                    # In object stores a file becomes visible only when its upload is complete.
                    self._files.pipe_file(f"{self._path}/{name}", content, mode="create")
        except FileExistsError:
            return False
        return True

    def adopt(self, name: str, source: Path) -> bool:
        """Add a local file atomically, as a hard link if the file system supports it, else a copy.

        The source is made read-only if permitted; it must not be changed later.

        Args:
            name: Name of the file in this folder.
            source: Path of the local file.

        Returns:
            False if a file of that name exists already; it is not changed.
        """
        place = self.local_path(name)
        if place is None:
            raise ParameterError(f"{self.place} is not on this machine: files cannot be linked.")
        self._make()
        try:
            with suppress(OSError):
                source.chmod(source.stat().st_mode & ~WRITABLE)
            place.hardlink_to(source.resolve())
            # Set the modification time to now, because leftover files are detected by their age.
            with suppress(OSError):
                place.touch()
        except FileExistsError:
            return False
        except OSError:
            # Linking fails across file systems, without link support, or for another user's file.
            return _copied(source, place)
        finally:
            flush_to_disk(place.parent)
        return True

    def local_path(self, name: str) -> Path | None:
        """Return the local path of a file; None if the folder is remote."""
        local = isinstance(self._files, LocalFileSystem)
        return Path(self._path) / name if local else None

    def _make(self) -> None:
        if not isinstance(self._files, LocalFileSystem):
            self._files.makedirs(self._path, exist_ok=True)
            return
        missing = [
            folder
            for folder in (Path(self._path), *Path(self._path).parents)
            if not folder.exists()
        ]
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
            flush_to_disk(folder.parent)

    def remove(self, name: str) -> None:
        """Delete a file; do nothing if it does not exist.

        Args:
            name: Name of the file.
        """
        with suppress(FileNotFoundError), _told_as_os_error():
            self._files.rm_file(f"{self._path}/{name}")

    def rename(self, name: str, other: str) -> None:
        """Rename a local file; do nothing if it does not exist.

        Args:
            name: Current name of the file.
            other: New name, which no other file has.
        """
        place = self.local_path(name)
        if place is None:
            raise ParameterError(f"{self.place} is not on this machine: files are not renamed.")
        with suppress(FileNotFoundError):
            place.rename(place.with_name(other))

    def check_writable(self) -> None:
        """Raise ParameterError if the folder is not writable, before long work starts."""
        probe = f".{uuid4().hex}"
        try:
            self.write(probe, b"")
            self.remove(probe)
        except Exception as error:
            raise ParameterError(f"{self.place} cannot be written to: {error}") from error


@contextmanager
def _told_as_os_error() -> Iterator[None]:
    """Turn the exceptions of object store drivers into OSError."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise OSError(f"{type(error).__name__}: {error}") from error


def _link(place: Path, content: bytes, mode: int) -> None:
    with _drafted(place, mode) as draft:
        draft.touch(PRIVATE)
        draft.write_bytes(content)


def _copied(source: Path, place: Path) -> bool:
    try:
        with _drafted(place, source.stat().st_mode & READABLE) as draft:
            draft.touch(PRIVATE)
            shutil.copyfile(source, draft)
    except FileExistsError:
        return False
    return True


@contextmanager
def _drafted(place: Path, mode: int) -> Iterator[Path]:
    """Yield the path of a draft file; hard-link it to ``place`` when the block ends."""
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    try:
        yield draft
        flush_to_disk(draft)
        draft.chmod(mode)
        # Linking is atomic: one of two writers succeeds, and no reader sees a partial file.
        place.hardlink_to(draft)
    finally:
        try:
            # Flush also if the file exists: its writer may have been killed before its own flush.
            flush_to_disk(place.parent)
        finally:
            draft.unlink(missing_ok=True)


def _reached(place: str | Path) -> tuple[Any, str]:
    # A Path object is never a URL, even if its name looks like one.
    if isinstance(place, Path):
        return LocalFileSystem(), str(place.absolute())
    files, path = url_to_fs(place)
    return files, path
