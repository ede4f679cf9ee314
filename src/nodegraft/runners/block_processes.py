"""Computation of the blocks of a layer in several local processes that share a disk."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any

from nodegraft.base.errors import NodegraftError
from nodegraft.graph.disk.blocks.layer_work import SCRATCH, BlockExecutor, LayerWork, SharedWork

CONTEXT = get_context("spawn")
"""Start method for processes; "fork" is not safe after torch has run."""


def start_child(serve: Callable[..., None], *arguments: Any) -> tuple[SpawnProcess, Connection]:
    """Start a child process; return the process and a connection to it.

    Args:
        serve: Function that runs in the process; it is called with the other end of the connection
            and ``arguments``.
    """
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_live, args=(serve, theirs, *arguments), daemon=True)
    with ignoring_sigint():
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def ignoring_sigint() -> Iterator[None]:
    """Make processes that are started in this block ignore Ctrl-C (SIGINT).

    A terminal sends Ctrl-C to child processes, too.
    """
    # Block SIGINT, because a child process inherits blocked signals and so ignores Ctrl-C from its
    # start.
    resource_tracker.ensure_running()  # Starting it later would unblock the signal.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """Exit this process when its parent process ends, even if the parent is killed."""
    Thread(target=_wait_for_parent, daemon=True).start()


def _live(serve: Callable[..., None], *arguments: Any) -> None:
    end_with_parent()
    serve(*arguments)


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


ATTEMPTS = 3
"""Number of crashes of workers, without a computed block in between, that raise an error."""


class BlockProcesses(BlockExecutor):
    """Context manager for local worker processes that compute blocks in parallel.

    All workers map the same files into memory.

    Args:
        workers: Number of worker processes.
    """

    def __init__(self, workers: int) -> None:
        self._count = workers
        self._pool: ProcessPoolExecutor | None = None

    def __enter__(self) -> "BlockProcesses":
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def processes(self) -> list[int]:
        """Return the process ids of the worker processes."""
        return [] if self._pool is None else list(self._pool._processes)

    def run(self, work: LayerWork) -> Iterator[int]:
        """Compute all missing blocks of a layer; yield the number of each block when it is done."""
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
