"""Blocks of a layer in several processes of this machine, which share its disk."""

import shutil
from collections import Counter, deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import cast

import torch

from nodegraft.base.errors import NodegraftError
from nodegraft.graph.disk.blocks.executor import LayerWork
from nodegraft.graph.disk.blocks.journal import BlockDone
from nodegraft.graph.disk.blocks.work_files import WorkFiles
from nodegraft.runners.child import start_child

ATTEMPTS = 3
"""So often a block is given to a process, before the fault is looked for in the block."""

SCRATCH = "scratch"


class BlockProcesses:
    """A number of processes that map the same files and write blocks side by side; a context.

    Args:
        workers: How many processes.
    """

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._workers: list[BlockWorker] = []

    def __enter__(self) -> "BlockProcesses":
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self._workers:
            worker.end()
        self._workers = []

    def processes(self) -> list[int]:
        """Their numbers."""
        return [worker.process.pid or 0 for worker in self._workers]

    def run(self, work: LayerWork) -> Iterator[BlockDone]:
        """Compute all missing blocks of a layer; tells of each when it is on the disk.

        Args:
            work: The layer.
        """
        scratch, waiting, died = work.target.place / SCRATCH, deque(work.blocks), Counter[int]()
        files = WorkFiles.of(work, scratch)
        while len(self._workers) < min(self._count, len(waiting)):
            self._workers.append(BlockWorker())
        while True:
            for worker in self._workers:
                if waiting and worker.block is None:
                    worker.give(files, waiting.popleft())
            busy = {one.connection: one for one in self._workers if one.block is not None}
            if not busy:
                break
            for connection in wait(list(busy)):
                block, done = busy[cast(Connection, connection)].take()
                if done is not None:
                    yield done
                    continue
                waiting.append(block)
                died[block] += 1
                if died[block] == ATTEMPTS:
                    raise NodegraftError(_died(block))
        shutil.rmtree(scratch, ignore_errors=True)


class BlockWorker:
    """A process, and the block it has in hand."""

    def __init__(self) -> None:
        self.block: int | None = None
        self._start()

    def give(self, files: WorkFiles, block: int) -> None:
        """Have it compute a block.

        Args:
            files: The layer.
            block: Its number.
        """
        if not self.process.is_alive():
            self._start()
        self.connection.send((files, block))
        self.block = block

    def take(self) -> tuple[int, BlockDone | None]:
        """The block it had, and how it ended; None where the process died."""
        block, self.block = cast(int, self.block), None
        try:
            ended: BlockDone | str = self.connection.recv()
        except (EOFError, ConnectionError):
            self.process.join()
            return block, None
        if isinstance(ended, str):
            raise NodegraftError(f"Block {block} could not be computed. {ended}")
        return block, ended

    def end(self) -> None:
        """Whatever it is doing."""
        self.process.terminate()
        self.process.join()

    def _start(self) -> None:
        self.process, self.connection = start_child(_serve)


def _serve(connection: Connection) -> None:
    torch.set_num_threads(1)
    opened: tuple[WorkFiles, LayerWork] | None = None
    while True:
        try:
            files, block = connection.recv()
        except (EOFError, ConnectionError):
            return
        try:
            if opened is None or opened[0].target != files.target:
                opened = files, files.open()
            connection.send(opened[1].compute(block))
        except Exception as error:
            connection.send(f"{type(error).__name__}: {error}")


def _died(block: int) -> str:
    often = "often for lack of memory: use fewer workers"
    return f"{ATTEMPTS} processes died over block {block}, {often}."
