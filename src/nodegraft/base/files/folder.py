"""Files that are written once and never changed, here or wherever fsspec reaches."""

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
from nodegraft.base.files.flush import flush_to_disk

READABLE, PRIVATE = 0o444, 0o600
"""Who may read a file: everybody, or its owner only."""

WRITABLE = 0o222
"""What nobody may do any more with a file that is taken in."""


@dataclass(frozen=True)
class StoredFile:
    """What is known of a file without reading it."""

    size: int
    """In bytes."""

    written: datetime
    """When."""


class WriteOnceFolder:
    """A folder on this machine or behind a URL such as ``s3://bucket/runs``; needs no locks.

    >>> folder = WriteOnceFolder("memory://doc/runs")
    >>> folder.write("a.json", b"{}"), folder.write("a.json", b"other"), folder.read("a.json")
    (True, False, b'{}')
    >>> folder.names(".json")
    ['a.json']

    Args:
        place: The folder, which need not exist yet.
    """

    def __init__(self, place: str | Path) -> None:
        try:
            self._files, self._path = _reached(place)
        except (ImportError, ValueError) as error:
            raise ParameterError(f"{place} cannot be reached: {error}") from error
        self.place = str(place).rstrip("/")

    def names(self, suffix: str) -> list[str]:
        """Of the files that end so, in order.

        Args:
            suffix: How their names end.
        """
        if not self._files.isdir(self._path):
            return []
        # Another process may have moved files meanwhile: what was listed before is not asked.
        self._files.invalidate_cache()
        found = (path.rpartition("/")[2] for path in self._files.ls(self._path, detail=False))
        return sorted(name for name in found if name.endswith(suffix) and name[0] != ".")

    def files(self) -> dict[str, StoredFile]:
        """All files by name, those too that a killed writer has left half written; no links."""
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
                    # A draft that has become a file.
                    continue
                found[path.rpartition("/")[2]] = StoredFile(size, written.astimezone(UTC))
            return found

    def _is_link(self, path: str) -> bool:
        return isinstance(self._files, LocalFileSystem) and Path(path).is_symlink()

    def has(self, name: str) -> bool:
        """Whether a file stands.

        Args:
            name: Its name.
        """
        with _told_as_os_error():
            # Another host may have taken away what was listed here before.
            self._files.invalidate_cache()
            return bool(self._files.exists(f"{self._path}/{name}"))

    def read(self, name: str) -> bytes:
        """All bytes of a file.

        Args:
            name: Its name.
        """
        with _told_as_os_error():
            self._refuse_special(name)
            content: bytes = self._files.cat_file(f"{self._path}/{name}")
            return content

    def _refuse_special(self, name: str) -> None:
        """Links lead elsewhere, and a pipe may never end."""
        place = self.local_path(name)
        if place is not None and not stat.S_ISREG(place.lstat().st_mode):
            raise OSError(f"{place} is a symbolic link or no plain file")

    def write(self, name: str, content: bytes, mode: int = READABLE) -> bool:
        """Whole or not at all; False, and nothing is touched, where the file stands already.

        Args:
            name: Its name.
            content: All its bytes.
            mode: Who may read it, on a disk.
        """
        try:
            with _told_as_os_error():
                self._make()
                if isinstance(self._files, LocalFileSystem):
                    _link(Path(self._path) / name, content, mode)
                else:
                    # Object stores show a file when all of it has arrived.
                    self._files.pipe_file(f"{self._path}/{name}", content, mode="create")
        except FileExistsError:
            return False
        return True

    def adopt(self, name: str, source: Path) -> bool:
        """Take in a file of this machine: as a hard link where the file system allows, else a copy.

        Whole or not at all; False, and nothing is touched, where the file stands already. Nobody
        may write into the source later: it is made read-only where that is allowed.

        Args:
            name: Its name here.
            source: The file.
        """
        place = self.local_path(name)
        if place is None:
            raise ParameterError(f"{self.place} is not on this machine: files cannot be linked.")
        self._make()
        try:
            with suppress(OSError):
                source.chmod(source.stat().st_mode & ~WRITABLE)
            place.hardlink_to(source.resolve())
            # It counts as written when it came: leftovers are known by their age.
            with suppress(OSError):
                place.touch()
        except FileExistsError:
            return False
        except OSError:
            # Another file system, or one without links, or somebody else's file.
            return _copied(source, place)
        finally:
            flush_to_disk(place.parent)
        return True

    def local_path(self, name: str) -> Path | None:
        """Where a file lies on this machine; None for what is behind a URL.

        Args:
            name: Its name.
        """
        local = isinstance(self._files, LocalFileSystem)
        return Path(self._path) / name if local else None

    def _make(self) -> None:
        if not isinstance(self._files, LocalFileSystem):
            self._files.makedirs(self._path, exist_ok=True)
            return
        missing = [one for one in (Path(self._path), *Path(self._path).parents) if not one.exists()]
        for one in reversed(missing):
            one.mkdir(exist_ok=True)
            flush_to_disk(one.parent)

    def remove(self, name: str) -> None:
        """Take a file away; for who has put its content elsewhere.

        Args:
            name: Its name; one that is gone already is no error.
        """
        with suppress(FileNotFoundError), _told_as_os_error():
            self._files.rm_file(f"{self._path}/{name}")

    def rename(self, name: str, other: str) -> None:
        """Give a file of this machine another name; one that is gone already is no error.

        Args:
            name: Its name.
            other: The new name, which nobody has.
        """
        place = self.local_path(name)
        if place is None:
            raise ParameterError(f"{self.place} is not on this machine: files are not renamed.")
        with suppress(FileNotFoundError):
            place.rename(place.with_name(other))

    def check_writable(self) -> None:
        """Refuse a place that cannot be written to, before work is done for it."""
        probe = f".{uuid4().hex}"
        try:
            self.write(probe, b"")
            self.remove(probe)
        except Exception as error:
            raise ParameterError(f"{self.place} cannot be written to: {error}") from error


@contextmanager
def _told_as_os_error() -> Iterator[None]:
    """Drivers of object stores have exceptions of their own."""
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
    """A file beside a place, which is there as soon as it is written whole."""
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    try:
        yield draft
        flush_to_disk(draft)
        draft.chmod(mode)
        # Of two writers one wins, and nobody ever sees half a file.
        place.hardlink_to(draft)
    finally:
        try:
            # Also where it stands already: whoever wrote it may have been killed before this.
            flush_to_disk(place.parent)
        finally:
            draft.unlink(missing_ok=True)


def _reached(place: str | Path) -> tuple[Any, str]:
    # A path is never a URL, whatever it is called.
    if isinstance(place, Path):
        return LocalFileSystem(), str(place.absolute())
    files, path = url_to_fs(place)
    return files, path
