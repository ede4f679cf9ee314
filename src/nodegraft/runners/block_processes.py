"""Blocks of a layer in several processes of this machine, which share its disk."""

import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from nodegraft.base.errors import NodegraftError
from nodegraft.graph.disk.blocks.layer_work import SCRATCH, BlockExecutor, LayerWork, SharedWork
from nodegraft.runners.child import CONTEXT, end_with_parent, ignoring_sigint

ATTEMPTS = 3
"""Worker processes may die this often in a row, with no block computed in between."""


class BlockProcesses(BlockExecutor):
    """Worker processes that map the same files and write blocks side by side; a context manager.

    Args:
        workers: Number of processes.
    """

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "BlockProcesses":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def processes(self) -> list[int]:
        """Return the process ids of the workers."""
        return [] if self._pool is None else list(self._pool._processes)

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute all missing blocks of a layer."""
        shared, remaining, deaths = SharedWork.of(work), set(work.blocks), 0
        while remaining:
            try:
                for result in as_completed(self._submit(shared, sorted(remaining))):
                    block = result.result()
                    remaining.remove(block)
                    deaths = 0
                    yield block
            except BrokenProcessPool as error:
                self._stop()
                deaths += 1
                if deaths == ATTEMPTS:
                    raise NodegraftError(
                        f"Worker processes died {ATTEMPTS} times in a row, often for lack of "
                        "memory: use fewer workers."
                    ) from error
        shutil.rmtree(work.target.place / SCRATCH, ignore_errors=True)

    def _submit(self, shared: SharedWork, blocks: list[int]) -> list["Future[int]"]:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(self._count, CONTEXT, initializer=end_with_parent)
        with ignoring_sigint():
            return [self._pool.submit(shared.compute, block) for block in blocks]

    def _stop(self) -> None:
        if self._pool is not None:
            processes = list(self._pool._processes.values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
                process.join()
            self._pool = None
