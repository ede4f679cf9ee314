"""Rows of a layer in files: blocks are written in any order, then the layer is finished."""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray
from scipy.sparse import csr_array, load_npz, save_npz

from nodegraft.base.errors import CheckpointError
from nodegraft.base.files.finished import flush_to_disk
from nodegraft.graph.edges.bounds import mark_mapped
from nodegraft.graph.edges.matrix import Matrix, index_type

CSR = ("data", "indices", "indptr")
"""Arrays of a sparse layer; the last one is written last."""


@dataclass(frozen=True)
class LayerRows:
    """Base class of dense and sparse rows in a folder."""

    place: Path
    """Folder of the files."""

    shape: tuple[int, int]
    """Numbers of rows and columns."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of a complete layer; the last one is written last."""
        raise NotImplementedError

    @property
    def unfinished(self) -> Path:
        """File or folder that holds blocks until the layer is complete."""
        raise NotImplementedError

    def matrix(self) -> Matrix | None:
        """Map all rows; return None while the layer is incomplete."""
        return self._mapped() if self.files[-1].exists() else None

    def _mapped(self) -> Matrix:
        raise NotImplementedError

    def begin(self) -> None:
        """Create the place for blocks."""

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write rows and wait until they are on the disk."""

    def finish(self) -> None:
        """Turn the blocks into the files of a complete layer."""


class DenseRows(LayerRows):
    """One file of float32 numbers, renamed when all rows are in it."""

    @property
    def files(self) -> tuple[Path, ...]:
        """File of the complete layer."""
        return (self.place / "rows.npy",)

    @property
    def unfinished(self) -> Path:
        """File that rows are written to."""
        return self.place / "rows.unfinished"

    def _mapped(self) -> Matrix:
        rows = mapped_layer(self.files[0])
        if rows.shape != self.shape or rows.dtype != np.float32:
            raise damaged_layer(self.files[0], "its type or shape has changed")
        return rows

    def begin(self) -> None:
        """Create a sparse file of the final size."""
        draft = self.place / f".{uuid4().hex}"
        open_memmap(draft, "w+", np.float32, shape=self.shape)
        _rename(draft, self.unfinished)

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write rows at their place in the file."""
        path = self.unfinished
        header = path.stat().st_size - 4 * self.shape[0] * self.shape[1]
        with path.open("r+b") as file:
            file.seek(header + 4 * self.shape[1] * start)
            file.write(np.ascontiguousarray(rows, dtype=np.float32).data)
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Give the file its final name."""
        _rename(self.unfinished, self.files[0])


class SparseRows(LayerRows):
    """Three files in CSR format, joined from one file for each block, whose sizes vary."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Files of the complete layer."""
        return tuple(self.place / f"{part}.npy" for part in CSR)

    @property
    def unfinished(self) -> Path:
        """Folder of the blocks."""
        return self.place / "blocks"

    def _mapped(self) -> Matrix:
        # The constructor of csr_array would read 64-bit arrays, to see if they fit into 32 bits.
        matrix = csr_array(self.shape, dtype=np.float32)
        data, indices, indptr = map(mapped_layer, self.files)
        fits = data.shape == indices.shape and indptr.shape == (self.shape[0] + 1,)
        plain = data.dtype == np.float32 and indices.dtype == indptr.dtype
        if not (fits and plain and (indptr[0], indptr[-1]) == (0, indices.size)):
            raise damaged_layer(self.files[-1], "its arrays do not fit each other")
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return mark_mapped(matrix, f"{self.place} (derived data: delete it to have it recomputed)")

    def begin(self) -> None:
        """Create a folder for the blocks."""
        self.unfinished.mkdir(exist_ok=True)

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write the file of a block."""
        draft = self.place / f".{uuid4().hex}.npz"
        save_npz(draft, csr_array(rows), compressed=False)
        flush_to_disk(draft)
        draft.replace(self.unfinished / f"{start:012}-{stop}.npz")
        flush_to_disk(self.unfinished)

    def finish(self) -> None:
        """Join the blocks."""
        blocks = sorted(self.unfinished.iterdir())
        entries = sum(int(_read(block).nnz) for block in blocks)
        kind = index_type(max(entries, *self.shape))
        drafts = [file.with_suffix(".unfinished") for file in self.files]
        data, indices, indptr = arrays = (
            open_memmap(drafts[0], "w+", np.float32, shape=(entries,)),
            open_memmap(drafts[1], "w+", kind, shape=(entries,)),
            open_memmap(drafts[2], "w+", kind, shape=(self.shape[0] + 1,)),
        )
        row = entry = 0
        for block in map(_read, blocks):
            more = slice(entry, entry + block.nnz)
            data[more], indices[more] = block.data, block.indices
            indptr[row + 1 : row + 1 + block.shape[0]] = entry + block.indptr[1:].astype(kind)
            row, entry = row + block.shape[0], more.stop
        for array, draft, file in zip(arrays, drafts, self.files, strict=True):
            array.flush()
            draft.replace(file)
        shutil.rmtree(self.unfinished)


def mapped_layer(path: Path) -> NDArray[Any]:
    """Map an array of a layer."""
    try:
        rows: NDArray[Any] = np.load(path, mmap_mode="r")
    except (OSError, ValueError, SyntaxError) as error:
        raise damaged_layer(path, str(error)) from error
    return rows


def damaged_layer(path: Path, finding: str) -> CheckpointError:
    """Return the error for a layer that cannot be used."""
    return CheckpointError(
        f"{path} is damaged: {finding}. It is derived data: delete {path.parent}, and it is "
        "computed again."
    )


def _read(path: Path) -> "csr_array[Any]":
    return csr_array(load_npz(path))


def _rename(draft: Path, path: Path) -> None:
    """Rename a file. A file of that name stays: of two writers the first one wins."""
    with suppress(FileExistsError, FileNotFoundError):
        path.hardlink_to(draft)
    draft.unlink(missing_ok=True)
