"""A process beside the one that answers, in which versions are made.

Learning keeps the interpreter busy, and in one process all who ask would wait for it.
"""

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from nodegraft.base.errors import NodegraftError
from nodegraft.service.errors import told
from nodegraft.service.http_error import HttpError, unexpected
from nodegraft.store.store import Store

STALE_ROWS = 250_000
"""So many rows that growth made stale are made at most, when nobody wants anything."""

Value = TypeVar("Value")

LOG = logging.getLogger("nodegraft.service")


class Workshop:
    """A copy of this process, with its own hold of the store. It ends when this process does.

    Args:
        process: The number of the copy.
        line: How it is spoken to.
    """

    def __init__(self, process: int, line: "Connection[Any, Any]") -> None:
        self._process, self._line = process, line

    @classmethod
    def beside(cls, place: Path) -> "Workshop | None":
        """One for a store; None where a process cannot be copied safely.

        Args:
            place: The folder of the store.
        """
        if sys.platform != "linux":
            return None
        ours, theirs = Pipe()
        with warnings.catch_warnings():
            # Later Pythons warn of threads: here is none that holds anything yet.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if not process:
            _work_until_the_end(place, theirs)
        theirs.close()
        return cls(process, ours)

    def do(self, work: Callable[[Store], Value]) -> Value:
        """Have some work done; an EOFError or OSError where the workshop has gone.

        Args:
            work: What to do: it is sent, so it is made of what can be.
        """
        self._line.send(work)
        done, found = self._line.recv()
        if not done:
            raise found
        value: Value = found
        return value

    def close(self) -> None:
        """Let it end."""
        self._line.close()
        os.waitpid(self._process, 0)


def _work_until_the_end(place: Path, line: "Connection[Any, Any]") -> NoReturn:
    try:
        # Who answers decides when to stop, and ends what has begun first.
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, signal.SIG_IGN)
        # Above all the port: it must be free as soon as who answers is gone.
        os.closerange(3, line.fileno())
        os.closerange(line.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        with Store.open(place) as store:
            while True:
                line.send(_outcome(line.recv(), store))
                _clear(store, line)
    finally:
        os._exit(0)


def _clear(store: Store, line: "Connection[Any, Any]") -> None:
    """What a growth made stale is made while nobody wants anything: the next change is sooner."""
    try:
        cleared = store.clear_stale(STALE_ROWS, until=line.poll)
    except Exception:
        # Answers are the same without, and the next change must find somebody.
        LOG.exception("stale rows could not be made anew")
        return
    if cleared.rows:
        told = {"rows": cleared.rows, "rows_per_second": round(cleared.rate)}
        LOG.info("stale rows were made anew", extra={"told": told})


def _outcome(work: Callable[[Store], Any], store: Store) -> tuple[bool, Any]:
    try:
        return True, work(store)
    except HttpError as error:
        return False, error
    except NodegraftError as error:
        return False, told(error)
    except Exception as error:
        return False, unexpected(error)
