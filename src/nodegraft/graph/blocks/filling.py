"""What is missing of a layer, computed and told of, block after block."""

from collections.abc import Callable, Iterable

from nodegraft.base.events import Listener
from nodegraft.graph.algebra.matrix import Matrix
from nodegraft.graph.blocks.executor import BlockExecutor, LayerWork, ThisProcess
from nodegraft.graph.blocks.journal import BlockDone
from nodegraft.graph.blocks.layer_files import LayerFiles


def fill(
    work: LayerWork, executor: BlockExecutor | None, listener: Listener, stage: str
) -> tuple[Matrix, list[BlockDone]]:
    """The whole layer, and the blocks that had been missing.

    Args:
        work: The layer.
        executor: Who computes the blocks; None for this process.
        listener: Told of every block that is done.
        stage: What the listener is told that this is.
    """
    blocks = (executor or ThisProcess()).run(work)
    return _told(work.target, len(work.blocks), blocks, listener, stage)


def fill_here(
    target: LayerFiles, make: Callable[[int, int], Matrix], listener: Listener, stage: str
) -> tuple[Matrix, list[BlockDone]]:
    """The same for rows that need no neighbours: they are made in this process.

    Args:
        target: Where the rows go.
        make: Makes the rows from one number to below another.
        listener: Told of every block that is done.
        stage: What the listener is told that this is.
    """
    missing = target.missing()
    blocks = (target.write(block, make(*target.between(block))) for block in missing)
    return _told(target, len(missing), blocks, listener, stage)


def _told(
    target: LayerFiles, missing: int, blocks: Iterable[BlockDone], listener: Listener, stage: str
) -> tuple[Matrix, list[BlockDone]]:
    done, there = list[BlockDone](), target.num_blocks - missing
    for block in blocks:
        done.append(block)
        listener.step(stage, there + len(done), target.num_blocks)
    return target.finish(), done
