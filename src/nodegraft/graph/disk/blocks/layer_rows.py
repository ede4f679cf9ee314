"""Files with the rows of a layer, and a journal of the layer's complete blocks."""

import os
import shutil
from collections.abc import Callable, Iterable, Sequence
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
from nodegraft.base.events import Listener
from nodegraft.base.files.array_file import flush_to_disk, write_sidecar
from nodegraft.graph.edges.matrix import CSR, Matrix, index_type, mark_mapped


@dataclass(frozen=True)
class LayerRows:
    """Base class for the files of a layer, whose rows are dense or sparse."""

    place: Path
    """Path of the layer's folder."""

    shape: tuple[int, int]
    """Number of rows and number of columns."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Paths of the files of a complete layer, in the order in which they are written."""
        raise NotImplementedError

    @property
    def unfinished(self) -> Path:
        """File or folder to which blocks are written until the layer is complete."""
        raise NotImplementedError

    def matrix(self) -> Matrix | None:
        """Return all rows of the layer, memory-mapped; None while the layer is incomplete."""
        return self._mapped() if self.files[-1].exists() else None

    def _mapped(self) -> Matrix:
        raise NotImplementedError

    def begin(self) -> None:
        """Create the file or folder to which blocks are written."""

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write the rows from `start` to `stop` - 1, and return only when they are on disk."""

    def finish(self) -> None:
        """Convert the written blocks to the files of a complete layer."""


class DenseRows(LayerRows):
    """Dense layer: a single float32 file, which gets its final name when it contains all rows."""

    @property
    def files(self) -> tuple[Path, ...]:
        """Path of the file of the complete layer."""
        return (self.place / "rows.npy",)

    @property
    def unfinished(self) -> Path:
        """File to which rows are written until the layer is complete."""
        return self.place / "rows.unfinished"

    def _mapped(self) -> Matrix:
        rows = mapped_layer(self.files[0])
        if rows.shape != self.shape or rows.dtype != np.float32:
            raise damaged_layer(self.files[0], "its type or shape has changed")
        return rows

    def begin(self) -> None:
        """Create a sparse file of the final size, to which blocks can be written in any order."""
        draft = self.place / f".{uuid4().hex}"
        open_memmap(draft, "w+", np.float32, shape=self.shape)
        _rename(draft, self.unfinished)

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write rows to their positions in the file."""
        path = self.unfinished
        header = path.stat().st_size - 4 * self.shape[0] * self.shape[1]
        with path.open("r+b") as file:
            file.seek(header + 4 * self.shape[1] * start)
            file.write(np.ascontiguousarray(rows, dtype=np.float32).data)
            file.flush()
            os.fsync(file.fileno())

    def finish(self) -> None:
        """Rename the unfinished file to the name of the complete layer."""
        _rename(self.unfinished, self.files[0])


class SparseRows(LayerRows):
    """Sparse layer: three CSR files.

    Each block is first written to its own file, because the number of its entries is not known in
    advance.
    """

    @property
    def files(self) -> tuple[Path, ...]:
        """Paths of the files of the complete layer."""
        return tuple(self.place / f"{part}.npy" for part in CSR)

    @property
    def unfinished(self) -> Path:
        """Folder with a file for each block."""
        return self.place / "blocks"

    def _mapped(self) -> Matrix:
        # Set the arrays afterwards, because the constructor of csr_array would read 64-bit arrays
        # completely to see if they fit into 32 bits.
        matrix = csr_array(self.shape, dtype=np.float32)
        data, indices, indptr = map(mapped_layer, self.files)
        fits = data.shape == indices.shape and indptr.shape == (self.shape[0] + 1,)
        plain = data.dtype == np.float32 and indices.dtype == indptr.dtype
        if not (fits and plain and (indptr[0], indptr[-1]) == (0, indices.size)):
            raise damaged_layer(self.files[-1], "its arrays do not fit each other")
        matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
        return mark_mapped(matrix, f"{self.place} (derived data: delete it to have it recomputed)")

    def begin(self) -> None:
        """Create the folder for the files of single blocks."""
        self.unfinished.mkdir(exist_ok=True)

    def put(self, start: int, stop: int, rows: Matrix) -> None:
        """Write the rows of a block to a file of their own."""
        draft = self.place / f".{uuid4().hex}.npz"
        save_npz(draft, csr_array(rows), compressed=False)
        flush_to_disk(draft)
        draft.replace(self.unfinished / f"{start:012}-{stop}.npz")
        flush_to_disk(self.unfinished)

    def finish(self) -> None:
        """Join the files of all blocks into the three CSR files."""
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
    """Return an array of a layer, memory-mapped; raise an error if its file is damaged."""
    try:
        rows: NDArray[Any] = np.load(path, mmap_mode="r")
    except (OSError, ValueError, SyntaxError) as error:
        raise damaged_layer(path, str(error)) from error
    return rows


def damaged_layer(path: Path, finding: str) -> CheckpointError:
    """Return the error that callers raise for a damaged file of a layer."""
    return CheckpointError(
        f"{path} is damaged: {finding}. It is derived data: delete {path.parent}, and it is "
        "computed again."
    )


def _read(path: Path) -> "csr_array[Any]":
    return csr_array(load_npz(path))


def _rename(draft: Path, path: Path) -> None:
    """Rename the file `draft` to `path`; if `path` exists, keep it and delete `draft`."""
    with suppress(FileExistsError, FileNotFoundError):
        path.hardlink_to(draft)
    draft.unlink(missing_ok=True)


JOURNAL = "journal.txt"
DONE = " done"
"""End of every complete line of the journal. A line without it was interrupted and is ignored."""


@dataclass(frozen=True)
class LayerFiles:
    """Files of a layer: its rows, and a journal of complete blocks.

    Any number of processes may write rows. Only the process that assigns the blocks writes the
    journal, after the rows of a block are on disk.
    """

    rows: LayerRows
    """Files with the rows of the layer."""

    bounds: tuple[int, ...]
    """Number of the first row of each block, followed by the number of all rows."""

    @property
    def place(self) -> Path:
        """Path of the layer's folder."""
        return self.rows.place

    @property
    def num_blocks(self) -> int:
        """Number of blocks of the layer."""
        return len(self.bounds) - 1

    def between(self, block: int) -> tuple[int, int]:
        """Return the number of a block's first row, and the number of its last row plus one."""
        return self.bounds[block], self.bounds[block + 1]

    def put(self, block: int, rows: Matrix) -> int:
        """Write the rows of a block to disk; return the number of the block."""
        self.rows.put(*self.between(block), rows)
        return block

    def done(self) -> set[int]:
        """Return the numbers of the complete blocks, which are listed in the journal."""
        journal = self.place / JOURNAL
        lines = journal.read_text(errors="replace").splitlines() if journal.exists() else []
        # Skip lines that a crash damaged; their blocks are recomputed.
        numbers = (line.removesuffix(DONE) for line in lines if line.endswith(DONE))
        return {int(number) for number in numbers if number.isdecimal()}

    def fill(
        self,
        compute: Callable[[Sequence[int]], Iterable[int]],
        listener: Listener,
        stage: str,
    ) -> tuple[Matrix, int]:
        """Compute missing blocks; return the complete layer, and how many blocks were missing.

        Args:
            compute: Function that computes and writes the blocks with the given numbers; it yields
                the number of each block whose rows are on disk.
            stage: Name of the layer in progress messages.
        """
        whole = self.rows.matrix()
        if whole is not None:
            return whole, 0
        missing = self._begin()
        there = self.num_blocks - len(missing)
        for count, block in enumerate(compute(missing), start=1):
            self._note(block)
            listener.step(stage, there + count, self.num_blocks)
        return self._finish(), len(missing)

    def _begin(self) -> list[int]:
        """Prepare for writing blocks; return the numbers of the missing blocks."""
        self.place.mkdir(parents=True, exist_ok=True)
        if not self.rows.unfinished.exists():
            # Delete a journal if there is no file with rows, because its blocks no longer exist.
            (self.place / JOURNAL).unlink(missing_ok=True)
            self.rows.begin()
        finished = self.done()
        return [block for block in range(self.num_blocks) if block not in finished]

    def _note(self, block: int) -> None:
        # Start with a line break, because a crash may have truncated the last line.
        handle = os.open(self.place / JOURNAL, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, f"\n{block}{DONE}\n".encode())
            os.fsync(handle)
        finally:
            os.close(handle)

    def _finish(self) -> Matrix:
        self.rows.finish()
        for path in (*self.rows.files, self.place / JOURNAL):
            if path.exists():
                write_sidecar(path)
        flush_to_disk(self.place)
        layer = self.rows.matrix()
        assert layer is not None  # noqa: S101  (that is what finishing means)
        return layer
