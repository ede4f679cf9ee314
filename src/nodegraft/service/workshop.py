"""The writer process, beside the one that serves, in which versions are made.

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
from time import monotonic
from typing import Any, NoReturn, TypeVar

from nodegraft.base.errors import NodegraftError
from nodegraft.service.errors import told
from nodegraft.service.http_error import HttpError, unexpected
from nodegraft.service.limits import JOB_SECONDS
from nodegraft.store.store import Store

STALE_ROWS = 250_000
"""So many rows that growth made stale are made at most, when nobody wants anything."""

BEGUN = "begun"
"""What the writer process says before it starts a job."""

_AFTER_A_STOP = (
    "Look at GET /v1/sessions: if it is not there, send a smaller change, or ask who runs this "
    "service for more memory or time."
)

Value = TypeVar("Value")

LOG = logging.getLogger("nodegraft.service")


class Workshop:
    """A writer process, with its own connection to the store. It ends when this process does.

    One that has died, or was stopped at the deadline of a job, is replaced at the next job. The
    job itself is not repeated: what exhausted the memory once would do so again.

    Args:
        place: The folder of the store.
        process: The number of the process.
        line: The pipe to it.
        job_seconds: How long one job may take.
    """

    def __init__(
        self, place: Path, process: int, line: "Connection[Any, Any]", job_seconds: float
    ) -> None:
        self._place, self._job_seconds = place, job_seconds
        self._process, self._line = process, line

    @classmethod
    def beside(cls, place: Path, job_seconds: float = JOB_SECONDS) -> "Workshop | None":
        """Fork a writer process for a store; None where a process cannot be copied safely.

        Args:
            place: The folder of the store.
            job_seconds: How long one job may take.
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
        return cls(place, process, ours, job_seconds)

    def do(self, work: Callable[[Store], Value]) -> Value:
        """Run a job in the writer process.

        Args:
            work: The job; it can be pickled.
        """
        ends_at = monotonic() + self._job_seconds
        has_begun = self._begin(work, ends_at)
        try:
            if not has_begun:
                self._line.send(work)
                self._receive(ends_at)
            is_done, outcome = self._receive(ends_at)
        except (EOFError, OSError):
            LOG.exception("the writer process died during a job")
            self._replace()
            message = (
                "The writer process died while it made this change; it may have run out of memory."
            )
            raise HttpError(503, "writer_died", message, _AFTER_A_STOP) from None
        if not is_done:
            raise outcome
        value: Value = outcome
        return value

    def close(self) -> None:
        """Let the process end, and wait for it."""
        self._line.close()
        os.waitpid(self._process, 0)

    def _begin(self, work: Callable[[Store], Any], ends_at: float) -> bool:
        """Send a job, and return whether the process has begun it; replace one that has died."""
        try:
            self._line.send(work)
            self._receive(ends_at)
        except (EOFError, OSError):
            # The process died before it began, so that another one may do it.
            LOG.warning("the writer process has died and is replaced")
            self._replace()
            return False
        return True

    def _receive(self, ends_at: float) -> Any:
        """Return the next message of the process, or stop it at the deadline."""
        if self._line.poll(max(0.0, ends_at - monotonic())):
            return self._line.recv()
        LOG.error("a job took longer than %g s: the writer process is stopped", self._job_seconds)
        self._replace()
        message = f"The change took longer than its deadline of {self._job_seconds:g} s."
        raise HttpError(503, "job_deadline", message, _AFTER_A_STOP)

    def _replace(self) -> None:
        """Start a new writer process instead of one that is dead or is to die."""
        os.kill(self._process, signal.SIGKILL)
        self.close()
        self._line, theirs = Pipe()
        # A new interpreter, not a copy: this process has threads by now.
        code = f"from {__name__} import main; main()"
        os.set_inheritable(theirs.fileno(), True)
        command = [sys.executable, "-c", code, str(self._place), str(theirs.fileno())]
        self._process = os.posix_spawn(sys.executable, command, os.environ)
        theirs.close()


def main() -> None:
    """Run a writer process that was started as a program, for a folder and a file descriptor."""
    from logging.config import dictConfig

    from nodegraft.service.logs import LOGGING

    dictConfig(LOGGING)
    place, descriptor = sys.argv[-2:]
    _work_until_the_end(Path(place), Connection(int(descriptor)))


def _work_until_the_end(place: Path, line: "Connection[Any, Any]") -> NoReturn:
    try:
        # The serving process decides when to stop, and ends what has begun first.
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, signal.SIG_IGN)
        # Close inherited descriptors, in particular the listening socket.
        os.closerange(3, line.fileno())
        os.closerange(line.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        with Store.open(place) as store:
            while True:
                work = line.recv()
                line.send(BEGUN)
                outcome, is_exhausted = _outcome(work, store)
                line.send(outcome)
                if is_exhausted:
                    # A new process has its memory free.
                    break
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


def _outcome(work: Callable[[Store], Any], store: Store) -> tuple[tuple[bool, Any], bool]:
    """Run a job; return whether it was done and its value or error, and whether memory ran out."""
    try:
        return (True, work(store)), False
    except HttpError as error:
        return (False, error), False
    except NodegraftError as error:
        return (False, told(error)), False
    except MemoryError:
        LOG.exception("a change needs more memory than there is")
        message = "The change needs more memory than the service can get, and was not made."
        return (False, HttpError(503, "out_of_memory", message, _AFTER_A_STOP)), True
    except Exception as error:
        return (False, unexpected(error)), False
