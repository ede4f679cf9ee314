"""The writer process, beside the one that serves, in which versions are made.

Learning keeps the interpreter busy, and in one process all who ask would wait for it.
"""

import logging
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Timer
from time import monotonic, sleep
from typing import Any, NoReturn, TypeVar

from nodegraft.base.errors import NodegraftError
from nodegraft.service.auth.limits import JOB_SECONDS, START_SECONDS
from nodegraft.service.errors import told
from nodegraft.service.http_error import HttpError, unexpected
from nodegraft.store.store import Store

STALE_ROWS = 250_000
"""So many rows that growth made stale are made at most, when nobody wants anything."""

CLOSE_SECONDS = 3.0
"""How long a service that ends waits for a job, and then for the writer process, before SIGKILL."""

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
        self._process: int | None = process
        self._line = line
        self._is_started = self._is_closing = False
        self._job_lock = Lock()  # Held during a job: the pipe is closed by nobody else meanwhile.
        self._process_lock = Lock()  # Held while the process is killed, reaped or replaced.

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
        with self._job_lock:
            is_done, outcome = self._done(work)
        if not is_done:
            raise outcome
        value: Value = outcome
        return value

    def close(self) -> None:
        """End the process, after its job if that ends within some seconds, and wait for it."""
        self._is_closing = True
        if not self._job_lock.acquire(timeout=CLOSE_SECONDS):
            LOG.warning("a job has not ended while the service stops: its process is killed")
            # Whoever waits for the job gets an error as soon as the process is dead.
            with self._process_lock:
                self._kill()
            self._job_lock.acquire()
        try:
            self._line.close()
            self._reap(CLOSE_SECONDS)
        finally:
            self._job_lock.release()

    def _done(self, work: Callable[[Store], Any], may_repeat: bool = True) -> tuple[bool, Any]:
        """Run a job; return whether it was done, and its value or error."""
        # A new process imports models before it begins its first job: that is no part of the job.
        seconds = self._job_seconds if self._is_started else START_SECONDS
        ends_at, has_begun = monotonic() + seconds, False
        try:
            # Sending and receiving block for ever where the process hangs; they fail when it dies.
            with self._killed_after(seconds):
                self._line.send(work)
                has_begun = self._is_started = self._line.recv() == BEGUN
            ends_at = monotonic() + self._job_seconds
            with self._killed_after(self._job_seconds):
                outcome: tuple[bool, Any] = self._line.recv()
            return outcome
        except (EOFError, OSError):
            is_late, was_started = monotonic() >= ends_at, self._is_started
            self._replace()
        if is_late and not was_started:
            LOG.error("the writer process did not start within %g s", seconds)
            message = f"The writer process did not start within {seconds:g} s."
            raise HttpError(503, "writer_died", message, "Send it again, with the same key.")
        if is_late:
            LOG.error("a job took longer than %g s: its process was killed", self._job_seconds)
            message = f"The change took longer than its deadline of {self._job_seconds:g} s."
            raise HttpError(503, "job_deadline", message, _AFTER_A_STOP)
        if not has_begun and may_repeat:
            LOG.warning("the writer process died before it began a job, and was replaced")
            return self._done(work, may_repeat=False)
        LOG.error("the writer process died during a job")
        message = (
            "The writer process died while it made this change; it may have run out of memory."
        )
        raise HttpError(503, "writer_died", message, _AFTER_A_STOP)

    def _replace(self) -> None:
        """Start a new writer process instead of one that is dead or is to die."""
        with self._process_lock:
            self._kill()
            self._line.close()
            self._reap(0.0)
            if self._is_closing:
                message = "The service is being stopped, and the change did not end in time."
                raise HttpError(503, "stopping", message, _AFTER_A_STOP)
            self._line, theirs = Pipe()
            # A new interpreter, not a copy: this process has threads by now.
            code = f"from {__name__} import main; main()"
            os.set_inheritable(theirs.fileno(), True)
            command = [sys.executable, "-c", code, str(self._place), str(theirs.fileno())]
            self._process = os.posix_spawn(sys.executable, command, os.environ)
            self._is_started = False
            theirs.close()

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        timer = Timer(seconds, self._kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            # The number of the process may be another one's after it was reaped.
            timer.join()

    def _kill(self) -> None:
        if self._process is not None:
            os.kill(self._process, signal.SIGKILL)

    def _reap(self, seconds: float) -> None:
        """Wait for the end of the process, and kill it after some seconds."""
        if self._process is None:
            return
        ends_at = monotonic() + seconds
        while os.waitpid(self._process, os.WNOHANG)[0] == 0:
            if monotonic() >= ends_at:
                self._kill()
                os.waitpid(self._process, 0)
                break
            sleep(0.01)
        self._process = None


def main() -> None:
    """Run a writer process that was started as a program, for a folder and a file descriptor."""
    from logging.config import dictConfig

    from nodegraft.service.observability.logs import LOGGING

    dictConfig(LOGGING)
    place, descriptor = sys.argv[-2:]
    _work_until_the_end(Path(place), Connection(int(descriptor)), is_replacement=True)


def _work_until_the_end(
    place: Path, line: "Connection[Any, Any]", is_replacement: bool = False
) -> NoReturn:
    try:
        # The serving process decides when to stop, and ends what has begun first.
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, signal.SIG_IGN)
        # Close inherited descriptors, in particular the listening socket.
        os.closerange(3, line.fileno())
        os.closerange(line.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        with Store.open(place) as store:
            if is_replacement:
                _load_model(store)
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


def _load_model(store: Store) -> None:
    """Import and read what jobs need, so that it does not count for the deadline of the first."""
    try:
        state = store.state()
        state.predict(state.graph.rows[:1])
    except Exception:
        # The job finds the same problem, and its caller gets the error.
        LOG.exception("the model of the newest version cannot be loaded")


def _clear(store: Store, line: "Connection[Any, Any]") -> None:
    """What a growth made stale is made while nobody wants anything: the next change is sooner."""
    try:
        cleared = store.clear_stale(STALE_ROWS, until=line.poll)
    except Exception:
        # Answers are the same without, and the next change must find somebody.
        LOG.exception("stale rows could not be recomputed")
        return
    if cleared.rows:
        told = {"rows": cleared.rows, "rows_per_second": round(cleared.rate)}
        LOG.info("stale rows were recomputed", extra={"told": told})


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
