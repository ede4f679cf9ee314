"""Sparse rows: a file for each block, whose size nobody knows before, joined at the end."""

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.lib.format import open_memmap
from scipy.sparse import csr_array, load_npz, save_npz

from nodegraft.base.files.flush import flush_to_disk
from nodegraft.graph.disk.blocks.dense_rows import damaged_layer, mapped_layer
from nodegraft.graph.edges.bounds import mark_mapped
from nodegraft.graph.edges.matrix import Matrix, index_type

PARTS = ("data", "indices", "indptr")
"""The last one is written last."""

UNFINISHED = "blocks"


@dataclass(frozen=True)
class SparseRows:
    """CSR in three files, which are there when all rows are in them."""

    place: Path
    """The folder of the files."""

    shape: tuple[int, int]
    """Rows and columns."""

    def matrix(self) -> Matrix | None:
        """All rows, mapped; None as long as they are not complete."""
        if not self._file(PARTS[-1]).exists():
            return None
        # Its constructor would read arrays of 64-bit numbers, to see if they fit into 32.
        matrix = csr_array(self.shape, dtype=np.float32)
        data, indices, indptr = map(mapped_layer, self.files)
        fits = data.shape == indices.shape and indptr.shape == (self.shape[0] + 1,)
        plain = data.dtype == np.float32 and indices.dtype == indptr.dtype
        if not (fits and plain and (indptr[0], indptr[-1]) == (0, indices.size)):
            raise damaged_layer(self._file(PARTS[-1]), "its arrays do not fit each other")
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return mark_mapped(matrix, f"{self.place} (derived data: delete it to have it recomputed)")

    @property
    def files(self) -> tuple[Path, ...]:
        """The files of a layer that is complete."""
        return tuple(map(self._file, PARTS))

    def is_begun(self) -> bool:
        """Whether there is a folder for the blocks."""
        return (self.place / UNFINISHED).exists()

    def begin(self) -> None:
        """Make a folder for the blocks."""
        (self.place / UNFINISHED).mkdir(exist_ok=True)

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write rows, and wait until they are on the disk.

        Args:
            start: The first one's number.
            stop: One behind the last.
            rows: The rows.
        """
        draft = self.place / f".{uuid4().hex}.npz"
        save_npz(draft, csr_array(rows), compressed=False)
        flush_to_disk(draft)
        draft.replace(self._block(start, stop))
        flush_to_disk(self.place / UNFINISHED)

    def finish(self) -> None:
        """Join the blocks."""
        blocks = sorted((self.place / UNFINISHED).iterdir())
        entries = sum(int(_read(block).nnz) for block in blocks)
        kind = index_type(max(entries, *self.shape))
        sizes = (entries, entries, self.shape[0] + 1)
        drafts = {part: self.place / f"{part}.unfinished" for part in PARTS}
        data, indices, indptr = (
            open_memmap(drafts[part], "w+", np.float32 if part == "data" else kind, shape=(size,))
            for part, size in zip(PARTS, sizes, strict=True)
        )
        row = entry = 0
        for block in map(_read, blocks):
            more = slice(entry, entry + block.nnz)
            data[more], indices[more] = block.data, block.indices
            indptr[row + 1 : row + 1 + block.shape[0]] = entry + block.indptr[1:].astype(kind)
            row, entry = row + block.shape[0], more.stop
        for part, array in zip(PARTS, (data, indices, indptr), strict=True):
            array.flush()
            drafts[part].replace(self._file(part))
        shutil.rmtree(self.place / UNFINISHED)

    def _file(self, part: str) -> Path:
        return self.place / f"{part}.npy"

    def _block(self, start: int, stop: int) -> Path:
        return self.place / UNFINISHED / f"{start:012}-{stop}.npz"


def _read(path: Path) -> "csr_array[Any]":
    return csr_array(load_npz(path))
