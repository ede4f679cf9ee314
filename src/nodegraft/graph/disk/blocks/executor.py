"""Who computes the blocks of a layer: this process, or whoever a caller names."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.disk.blocks.journal import BlockDone
from nodegraft.graph.disk.blocks.layer_files import LayerFiles
from nodegraft.graph.disk.blocks.row_map import RowMap
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.row_blocks import spread_rows


@dataclass(frozen=True)
class LayerWork:
    """A layer that is to be computed: S times the one before, each row mapped where one asks."""

    adjacency: Adjacency
    """The edges."""

    roots: NDArray[np.float32]
    """All its inverse roots of degrees."""

    source: Matrix
    """The layer before, sparse or in single precision; perhaps mapped."""

    target: LayerFiles
    """Where the rows go."""

    blocks: tuple[int, ...] = ()
    """The numbers of the blocks that are missing."""

    before: LayerFiles | None = None
    """Where the layer before was written, in the same blocks; None for the features."""

    then: RowMap | None = None
    """What becomes of each row of the product; None to leave it as it is."""

    def compute(self, block: int) -> BlockDone:
        """Compute and write one block.

        Args:
            block: Its number.
        """
        start, stop = self.target.between(block)
        rows = spread_rows(self.adjacency, self.roots, self.source, start, stop)
        return self.target.write(block, rows if self.then is None else self.then(rows))


class BlockExecutor(Protocol):
    """Where blocks are computed."""

    def run(self, work: LayerWork) -> Iterator[BlockDone]:
        """Compute all missing blocks of a layer; tells of each when it is on the disk.

        Args:
            work: The layer.
        """


class ThisProcess:
    """One block after the other, here."""

    def run(self, work: LayerWork) -> Iterator[BlockDone]:
        """Compute all missing blocks of a layer; tells of each when it is on the disk.

        Args:
            work: The layer.
        """
        return map(work.compute, work.blocks)
