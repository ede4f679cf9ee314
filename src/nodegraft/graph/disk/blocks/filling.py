"""What is missing of a layer, computed and told of, block after block."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from nodegraft.base.events import Listener
from nodegraft.graph.disk.blocks.executor import BlockExecutor, LayerWork, ThisProcess
from nodegraft.graph.disk.blocks.journal import BlockDone
from nodegraft.graph.disk.blocks.layer_files import LayerFiles
from nodegraft.graph.edges.matrix import Matrix


def fill(
    work: LayerWork, executor: BlockExecutor | None, listener: Listener, stage: str
) -> tuple[Matrix, list[BlockDone]]:
    """The whole layer, and the blocks that had been missing.

    Args:
        work: The layer; its blocks are those that will be found missing.
        executor: Who computes the blocks; None for this process.
        listener: Told of every block that is done.
        stage: What the listener is told that this is.
    """

    def computed(missing: Sequence[int]) -> Iterable[BlockDone]:
        return (executor or ThisProcess()).run(replace(work, blocks=tuple(missing)))

    return _filled(work.target, computed, listener, stage)


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

    def computed(missing: Sequence[int]) -> Iterable[BlockDone]:
        return (target.write(block, make(*target.between(block))) for block in missing)

    return _filled(target, computed, listener, stage)


def _filled(
    target: LayerFiles,
    computed: Callable[[Sequence[int]], Iterable[BlockDone]],
    listener: Listener,
    stage: str,
) -> tuple[Matrix, list[BlockDone]]:
    whole, done = target.rows.matrix(), list[BlockDone]()
    if whole is not None:
        return whole, done
    missing = target.missing()
    there = target.num_blocks - len(missing)
    for block in computed(missing):
        done.append(block)
        listener.step(stage, there + len(done), target.num_blocks)
    return target.finish(), done
