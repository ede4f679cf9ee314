"""Local or remote folders (fsspec) of files that are written once and never changed."""

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
"""File modes: READABLE for everybody; PRIVATE files can be read and written by the owner only."""

WRITABLE = 0o222
"""File permission bits to remove from files that :meth:`WriteOnceFolder.adopt` adds."""


@dataclass(frozen=True)
class StoredFile:
    """Size and modification time of a file."""

    size: int
    """Size of the file in bytes."""

    written: datetime
    """Time when the file was last written."""


class WriteOnceFolder:
    """Local or remote folder (``s3://bucket/runs``) in which each file is written once.

    No locks are needed.

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
        # Refresh the listing, because another process may have renamed files since the last one.
        self._files.invalidate_cache()
        names = (path.rpartition("/")[2] for path in self._files.ls(self._path, detail=False))
        return sorted(name for name in names if name.endswith(suffix) and name[0] != ".")

    def files(self) -> dict[str, StoredFile]:
        """Return all files by name, without symbolic links.

        Draft files of interrupted writers are included.
        """
        with _told_as_os_error():
            self._files.invalidate_cache()
            if not self._files.isdir(self._path):
                return {}
            entries = {}
            for path in self._files.ls(self._path, detail=False):
                if self._is_link(path):
                    continue
                try:
                    size, written = self._files.size(path), self._files.modified(path)
                except FileNotFoundError:
                    # The draft file was renamed after the folder was listed.
                    continue
                entries[path.rpartition("/")[2]] = StoredFile(size, written.astimezone(UTC))
            return entries

    def _is_link(self, path: str) -> bool:
        return isinstance(self._files, LocalFileSystem) and Path(path).is_symlink()

    def has(self, name: str) -> bool:
        """Return whether a file with this name exists in the folder."""
        with _told_as_os_error():
            # Refresh the listing, because another host may have deleted the file since the last
            # one.
            self._files.invalidate_cache()
            return bool(self._files.exists(f"{self._path}/{name}"))

    def read(self, name: str) -> bytes:
        """Return the content of the file with this name."""
        with _told_as_os_error():
            self._refuse_special(name)
            content: bytes = self._files.cat_file(f"{self._path}/{name}")
            return content

    def _refuse_special(self, name: str) -> None:
        """Raise OSError if the file is a symbolic link or a special file such as a pipe."""
        place = self.local_path(name)
        if place is not None and not stat.S_ISREG(place.lstat().st_mode):
            raise OSError(f"{place} is a symbolic link or no plain file")

    def write(self, name: str, content: bytes, mode: int = READABLE) -> bool:
        """Write a new file atomically; return False if the name exists, and change nothing.

        Args:
            mode: File mode; used for local folders only.
        """
        try:
            with _told_as_os_error():
                self._make()
                if isinstance(self._files, LocalFileSystem):
                    _link(Path(self._path) / name, content, mode)
                else:
                    # In object stores, a file becomes visible only after its upload is complete.
                    self._files.pipe_file(f"{self._path}/{name}", content, mode="create")
        except FileExistsError:
            return False
        return True

    def adopt(self, name: str, source: Path) -> bool:
        """Add a local file atomically: as a hard link if possible, otherwise as a copy.

        The source file is made read-only if permissions allow; callers must not change it later.

        Returns:
            False if the folder already has a file with this name, which is then not changed.
        """
        place = self.local_path(name)
        if place is None:
            raise ParameterError(f"{self.place} is not on this machine: files cannot be linked.")
        self._make()
        try:
            with suppress(OSError):
                source.chmod(source.stat().st_mode & ~WRITABLE)
            place.hardlink_to(source.resolve())
            # Set the modification time to now, because clean-up removes old leftover files by their
            # age.
            with suppress(OSError):
                place.touch()
        except FileExistsError:
            return False
        except OSError:
            # Hard links fail across file systems, on file systems without links, or for files of
            # another user.
            return _copied(source, place)
        finally:
            flush_to_disk(place.parent)
        return True

    def local_path(self, name: str) -> Path | None:
        """Return the local path of a file in this folder; None if the folder is remote."""
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
        """Delete a file of the folder; do nothing if it does not exist."""
        with suppress(FileNotFoundError), _told_as_os_error():
            self._files.rm_file(f"{self._path}/{name}")

    def rename(self, name: str, other: str) -> None:
        """Rename a file of a local folder; do nothing if the file does not exist.

        Args:
            other: New name, which no other file has.
        """
        place = self.local_path(name)
        if place is None:
            raise ParameterError(f"{self.place} is not on this machine: files are not renamed.")
        with suppress(FileNotFoundError):
            place.rename(place.with_name(other))

    def check_writable(self) -> None:
        """Raise ParameterError if the folder is not writable.

        Call it before a long computation starts.
        """
        probe = f".{uuid4().hex}"
        try:
            self.write(probe, b"")
            self.remove(probe)
        except Exception as error:
            raise ParameterError(f"{self.place} cannot be written to: {error}") from error


@contextmanager
def _told_as_os_error() -> Iterator[None]:
    """Context manager that converts exceptions of object store drivers to OSError."""
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
    """Yield the path of a draft file, which becomes ``place`` when the ``with`` block ends."""
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    try:
        yield draft
        flush_to_disk(draft)
        draft.chmod(mode)
        # A hard link is created atomically: only the first of two writers succeeds, and no reader
        # sees a partial file.
        place.hardlink_to(draft)
    finally:
        try:
            # Flush the folder even if the file exists: its writer may have been killed before
            # flushing.
            flush_to_disk(place.parent)
        finally:
            draft.unlink(missing_ok=True)


def _reached(place: str | Path) -> tuple[Any, str]:
    # Do not parse a Path object as a URL, even if it looks like one.
    if isinstance(place, Path):
        return LocalFileSystem(), str(place.absolute())
    files, path = url_to_fs(place)
    return files, path
