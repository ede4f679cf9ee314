"""One layer on disk: its blocks are written in any order, by any number of processes."""

from dataclasses import dataclass
from pathlib import Path

from nodegraft.base.files.flush import flush_to_disk
from nodegraft.base.files.sidecar import write_sidecar
from nodegraft.graph.disk.blocks.dense_rows import DenseRows
from nodegraft.graph.disk.blocks.journal import BlockDone, BlockJournal
from nodegraft.graph.disk.blocks.sparse_rows import SparseRows
from nodegraft.graph.edges.matrix import Matrix

JOURNAL = "journal.jsonl"


@dataclass(frozen=True)
class LayerFiles:
    """The rows of a layer, and the journal that says which blocks of them are there."""

    rows: DenseRows | SparseRows
    """Where the rows are."""

    bounds: tuple[int, ...]
    """Where each block of rows begins, and behind them the number of rows."""

    @property
    def place(self) -> Path:
        """The folder of the layer."""
        return self.rows.place

    @property
    def journal(self) -> BlockJournal:
        """Which blocks are done."""
        return BlockJournal(self.place / JOURNAL)

    @property
    def num_blocks(self) -> int:
        """How many blocks there are."""
        return len(self.bounds) - 1

    def missing(self) -> list[int]:
        """The blocks that are not there, and room for them."""
        self.place.mkdir(parents=True, exist_ok=True)
        if not self.rows.is_begun():
            # Whatever was in the journal, its rows are gone.
            (self.place / JOURNAL).unlink(missing_ok=True)
            self.rows.begin()
        done = self.journal.blocks()
        return [block for block in range(self.num_blocks) if block not in done]

    def between(self, block: int) -> tuple[int, int]:
        """The first row of a block, and one behind its last.

        Args:
            block: Its number.
        """
        return self.bounds[block], self.bounds[block + 1]

    def write(self, block: int, rows: Matrix, fetched: int = 0) -> BlockDone:
        """Put a block in its place; when this returns, it is on the disk and in the journal.

        Args:
            block: Its number.
            rows: Its rows.
            fetched: How many bytes were fetched to make them.
        """
        self.rows.put(*self.between(block), rows)
        done = BlockDone(block, fetched)
        self.journal.add(done)
        return done

    def finish(self) -> Matrix:
        """The whole layer, when no block is missing."""
        self.rows.finish()
        for path in (*self.rows.files, self.place / JOURNAL):
            if path.exists():
                write_sidecar(path)
        flush_to_disk(self.place)
        layer = self.rows.matrix()
        assert layer is not None  # noqa: S101  (that is what finishing means)
        return layer
