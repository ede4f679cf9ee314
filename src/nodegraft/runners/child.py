"""Child processes: they leave Ctrl-C to this process, and end when it does."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from threading import Thread
from typing import Any

CONTEXT = get_context("spawn")
"""How processes are started: forking a process in which torch has run is not safe."""


def start_child(serve: Callable[..., None], *arguments: Any) -> tuple[SpawnProcess, Connection]:
    """Start a process; return it and a connection to it.

    Args:
        serve: Runs in the process, with the other end of the connection and the arguments.
        arguments: More arguments of ``serve``.
    """
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=_live, args=(serve, theirs, *arguments), daemon=True)
    with ignoring_sigint():
        process.start()
    theirs.close()
    return process, ours


@contextmanager
def ignoring_sigint() -> Iterator[None]:
    """Start processes that ignore Ctrl-C, which a terminal sends to all of them."""
    # A child inherits blocked signals from its first moment on.
    resource_tracker.ensure_running()  # starting it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent() -> None:
    """End this process when its parent ends, even if the parent is killed."""
    Thread(target=_wait_for_parent, daemon=True).start()


def _live(serve: Callable[..., None], *arguments: Any) -> None:
    end_with_parent()
    serve(*arguments)


def _wait_for_parent() -> None:
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
