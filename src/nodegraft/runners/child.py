"""Processes of this process: they leave Ctrl-C to it, and end when it does."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any

# Forking a process in which torch has run is not safe.
_CONTEXT = get_context("spawn")


def start_child(serve: Callable[..., None], *arguments: Any) -> tuple[SpawnProcess, Connection]:
    """A new process, and this end of the line to it.

    Args:
        serve: What it does, given its end of the line and the arguments.
        arguments: For it.
    """
    ours, theirs = _CONTEXT.Pipe()
    process = _CONTEXT.Process(target=_live, args=(serve, theirs, *arguments), daemon=True)
    with _ignoring_sigint():
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def _ignoring_sigint() -> Iterator[None]:
    # It reaches every process of a terminal, and a child inherits what is blocked from its first
    # moment on: the parent decides.
    resource_tracker.ensure_running()  # what starts it unblocks
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _live(serve: Callable[..., None], *arguments: Any) -> None:
    Thread(target=_end_with_the_parent, daemon=True).start()
    serve(*arguments)


def _end_with_the_parent() -> None:
    # A killed parent cannot say goodbye.
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
