"""One layer on disk: blocks of rows, and a journal of the blocks that are complete."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nodegraft.base.events import Listener
from nodegraft.base.files.finished import flush_to_disk, write_sidecar
from nodegraft.graph.disk.blocks.layer_rows import LayerRows
from nodegraft.graph.edges.matrix import Matrix

JOURNAL = "journal.txt"
DONE = " done"
"""Ends every line of the journal: a line without it was interrupted and does not count."""


@dataclass(frozen=True)
class LayerFiles:
    """Rows of a layer, and the journal of complete blocks.

    Any number of processes may write rows; the process that hands out the blocks writes the
    journal, once the rows of a block are on the disk.
    """

    rows: LayerRows
    """The rows."""

    bounds: tuple[int, ...]
    """First row of each block, and the number of rows."""

    @property
    def place(self) -> Path:
        """Folder of the layer."""
        return self.rows.place

    @property
    def num_blocks(self) -> int:
        """Number of blocks."""
        return len(self.bounds) - 1

    def between(self, block: int) -> tuple[int, int]:
        """Return the first row of a block and the row after its last."""
        return self.bounds[block], self.bounds[block + 1]

    def put(self, block: int, rows: Matrix) -> int:
        """Write the rows of a block to the disk and return its number."""
        self.rows.put(*self.between(block), rows)
        return block

    def done(self) -> set[int]:
        """Return the blocks in the journal."""
        journal = self.place / JOURNAL
        lines = journal.read_text(errors="replace").splitlines() if journal.exists() else []
        # A line that a crash damaged names no block, which is then computed again.
        numbers = (line.removesuffix(DONE) for line in lines if line.endswith(DONE))
        return {int(number) for number in numbers if number.isdecimal()}

    def fill(
        self,
        compute: Callable[[Sequence[int]], Iterable[int]],
        listener: Listener,
        stage: str,
    ) -> tuple[Matrix, int]:
        """Compute missing blocks; return the whole layer and how many blocks were missing.

        Args:
            compute: Writes blocks, and yields the number of each when its rows are on the disk.
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
        """Create the place for blocks, if there is none, and return the missing blocks."""
        self.place.mkdir(parents=True, exist_ok=True)
        if not self.rows.unfinished.exists():
            # The rows of blocks in an old journal are gone.
            (self.place / JOURNAL).unlink(missing_ok=True)
            self.rows.begin()
        done = self.done()
        return [block for block in range(self.num_blocks) if block not in done]

    def _note(self, block: int) -> None:
        # The line begins with a line break, because the line before may be cut off.
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
