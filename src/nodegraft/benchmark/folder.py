"""Files that are written once and never changed, here or wherever fsspec reaches."""

import os
from pathlib import Path
from uuid import uuid4

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem


class AppendOnlyFolder:
    """A folder on this machine or behind a URL such as ``s3://bucket/runs``; needs no locks.

    >>> folder = AppendOnlyFolder("memory://doc/runs")
    >>> folder.write("a.json", b"{}"), folder.write("a.json", b"other"), folder.read("a.json")
    (True, False, b'{}')
    >>> folder.names(".json")
    ['a.json']
    """

    def __init__(self, place: str | Path) -> None:
        self._files, self._path = url_to_fs(str(place))
        self.place = str(place).rstrip("/")

    def names(self, suffix: str) -> list[str]:
        """Of the files that end so, in order."""
        if not self._files.isdir(self._path):
            return []
        found = (path.rpartition("/")[2] for path in self._files.ls(self._path, detail=False))
        return sorted(name for name in found if name.endswith(suffix) and name[0] != ".")

    def read(self, name: str) -> bytes:
        """All bytes of a file."""
        content: bytes = self._files.cat_file(f"{self._path}/{name}")
        return content

    def write(self, name: str, content: bytes) -> bool:
        """Whole or not at all; False, and nothing is touched, where the file stands already."""
        self._files.makedirs(self._path, exist_ok=True)
        try:
            if isinstance(self._files, LocalFileSystem):
                _link(Path(self._path) / name, content)
            else:
                # Object stores show a file when all of it has arrived.
                self._files.pipe_file(f"{self._path}/{name}", content, mode="create")
        except FileExistsError:
            return False
        return True


def _link(place: Path, content: bytes) -> None:
    draft = place.with_name(f".{place.name}.{uuid4().hex}")
    try:
        with draft.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(0o444)
        # Of two writers one wins, and nobody ever sees half a file.
        place.hardlink_to(draft)
    finally:
        draft.unlink(missing_ok=True)
