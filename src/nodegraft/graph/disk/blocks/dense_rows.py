"""Dense rows in one file, filled in any order."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from nodegraft.base.errors import CheckpointError
from nodegraft.graph.edges.matrix import Matrix

ROWS = "rows.npy"
UNFINISHED = "rows.unfinished"


@dataclass(frozen=True)
class DenseRows:
    """A file of float32 that has its final name when all rows are in it."""

    place: Path
    """The folder of the file."""

    shape: tuple[int, int]
    """Rows and columns."""

    def matrix(self) -> Matrix | None:
        """All rows, mapped; None as long as they are not complete."""
        (path,) = self.files
        if not path.exists():
            return None
        rows = mapped_layer(path)
        if rows.shape != self.shape or rows.dtype != np.float32:
            raise damaged_layer(path, "its type or shape has changed")
        return rows

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of a layer that is complete."""
        return (self.place / ROWS,)

    def is_begun(self) -> bool:
        """Whether there is room for the rows."""
        return (self.place / UNFINISHED).exists()

    def begin(self) -> None:
        """Make room for the rows; it takes none on the disk before they come."""
        draft = self.place / f".{uuid4().hex}"
        open_memmap(draft, "w+", np.float32, shape=self.shape)
        _name(draft, self.place / UNFINISHED)

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write rows, and wait until they are on the disk.

        Args:
            start: The first one's number.
            stop: One behind the last.
            rows: The rows.
        """
        path = self.place / UNFINISHED
        header = path.stat().st_size - 4 * self.shape[0] * self.shape[1]
        with path.open("r+b") as file:
            file.seek(header + 4 * self.shape[1] * start)
            file.write(np.ascontiguousarray(rows, dtype=np.float32).data)
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Give the file its final name."""
        _name(self.place / UNFINISHED, self.place / ROWS)


def mapped_layer(path: Path) -> NDArray[Any]:
    """Map an array of a layer.

    Args:
        path: The file.
    """
    try:
        rows: NDArray[Any] = np.load(path, mmap_mode="r")
    except (OSError, ValueError, SyntaxError) as error:
        raise damaged_layer(path, str(error)) from error
    return rows


def damaged_layer(path: Path, finding: str) -> CheckpointError:
    """Return the error for a layer that cannot be used.

    Args:
        path: Its file.
        finding: What is wrong with it.
    """
    return CheckpointError(
        f"{path} is damaged: {finding}. It is derived data: delete {path.parent}, and it is "
        "computed again."
    )


def _name(draft: Path, path: Path) -> None:
    """Another name for a file. One that is there stays: of two writers one wins."""
    with suppress(FileExistsError, FileNotFoundError):
        path.hardlink_to(draft)
    draft.unlink(missing_ok=True)
