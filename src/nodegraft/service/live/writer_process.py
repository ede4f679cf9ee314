"""Writer process: it makes versions, so that requests to the serving process are not delayed."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Lock, Timer
from time import monotonic
from typing import Any, NoReturn, TypeVar

from nodegraft.base.errors import NodegraftError
from nodegraft.service.auth.limits import JOB_SECONDS, START_SECONDS
from nodegraft.service.errors import HttpError, http_error, internal_error
from nodegraft.store.store import Store

STALE_ROWS = 250_000
"""Maximum number of stale rows that are recomputed at once while no job is running."""

CLOSE_SECONDS = 3.0
"""Timeout for the running job when the service stops, and then for the process."""

STARTED = "started"
"""Message that the writer process sends when it starts to run a job."""

_AFTER_A_STOP = (
    "See GET /v1/history: if the change is not there, send a smaller one, or ask the operator of "
    "this service for more memory or time."
)

Value = TypeVar("Value")

LOG = logging.getLogger("nodegraft.service")


class WriterProcess:
    """Writer process with its own connection to the store; it ends when its parent process ends.

    It is a new interpreter, not a fork: a fork would inherit the threads' locks and the SQLite
    connections of this process, and SQLite damages a database that is used across a fork.

    A process that died or exceeded the timeout of a job is replaced at the next job. The failed job
    is not repeated: if it ran out of memory, it would probably run out of memory again.

    Args:
        place: Folder of the store.
        job_seconds: Timeout of one job.
    """

    def __init__(self, place: Path, job_seconds: float = JOB_SECONDS) -> None:
        self._place, self._job_seconds = place, job_seconds
        self._is_started = self._is_closing = False
        self._job_lock = Lock()  # Held during a job, so that no other thread closes the pipe.
        self._process_lock = Lock()  # Held while the process is replaced.
        self._start()

    @classmethod
    def start(cls, place: Path, job_seconds: float = JOB_SECONDS) -> "WriterProcess | None":
        """Start a writer process for a store; return None on Windows, where it is not supported."""
        return None if sys.platform == "win32" else cls(place, job_seconds)

    def run(self, job: Callable[[Store], Value]) -> Value:
        """Run a job in the writer process, and return its result.

        Args:
            job: Function of the store; must be picklable.
        """
        with self._job_lock:
            is_done, outcome = self._run(job)
        if not is_done:
            raise outcome
        value: Value = outcome
        return value

    def close(self) -> None:
        """End the process after its current job, or kill it after a timeout; wait for its end."""
        self._is_closing = True
        if not self._job_lock.acquire(timeout=CLOSE_SECONDS):
            LOG.warning("a job has not ended while the service stops: its process is killed")
            # Kill the process; the caller of the running job gets an error.
            with self._process_lock:
                self._process.kill()
            self._job_lock.acquire()
        try:
            self._pipe.close()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(CLOSE_SECONDS)
            self._process.kill()
            self._process.wait()
        finally:
            self._job_lock.release()

    def _run(self, job: Callable[[Store], Any], may_repeat: bool = True) -> tuple[bool, Any]:
        """Run a job; return whether it succeeded, and its result or error."""
        # Before its first job, a new process imports modules and loads the model, which may take as
        # long as a job.
        seconds = self._job_seconds + (0.0 if self._is_started else START_SECONDS)
        ends_at, is_running = monotonic() + seconds, False
        try:
            # Reading the pipe blocks if the process hangs, and fails when the process is killed.
            with self._killed_after(seconds):
                self._pipe.send(job)
                is_running = self._is_started = self._pipe.recv() == STARTED
            ends_at = monotonic() + self._job_seconds
            with self._killed_after(self._job_seconds):
                outcome: tuple[bool, Any] = self._pipe.recv()
            return outcome
        except (EOFError, OSError):
            is_late, was_started = monotonic() >= ends_at, self._is_started
            self._replace()
        if is_late and not was_started:
            LOG.error("the writer process did not start within %g s", seconds)
            message = f"The writer process did not start within {seconds:g} s."
            raise HttpError(503, "writer_not_started", message, "Send it again, with the same key.")
        if is_late:
            LOG.error("a job took longer than %g s: its process was killed", self._job_seconds)
            message = f"The change exceeded its timeout of {self._job_seconds:g} s."
            raise HttpError(503, "job_timeout", message, _AFTER_A_STOP)
        if not is_running and may_repeat:
            LOG.warning("the writer process died before it started a job, and was replaced")
            return self._run(job, may_repeat=False)
        LOG.error("the writer process died during a job")
        message = (
            "The writer process died while it made this change; it may have run out of memory."
        )
        raise HttpError(503, "writer_died", message, _AFTER_A_STOP)

    def _replace(self) -> None:
        """Kill the writer process and start a new one."""
        with self._process_lock:
            self._process.kill()
            self._pipe.close()
            self._process.wait()
            if self._is_closing:
                message = "The service is being stopped, and the change did not end in time."
                raise HttpError(503, "stopping", message, _AFTER_A_STOP)
            self._start()

    def _start(self) -> None:
        self._pipe, theirs = Pipe()
        self._is_started = False
        # The process finds the same modules as this one. It has its own process group, so that
        # Ctrl-C reaches this process only.
        code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
        command = [sys.executable, "-P", "-c", code, str(self._place), str(theirs.fileno())]
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603
                command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()], process_group=0
            )

    @contextmanager
    def _killed_after(self, seconds: float) -> Iterator[None]:
        timer = Timer(seconds, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


def main() -> None:
    """Run the jobs of a writer process; its arguments are a folder and a file descriptor."""
    from logging.config import dictConfig

    from nodegraft.service.observability import LOGGING

    dictConfig(LOGGING)
    place, descriptor = sys.argv[-2:]
    _run_jobs(Path(place), Connection(int(descriptor)))


def _run_jobs(place: Path, pipe: "Connection[Any, Any]") -> NoReturn:
    try:
        # Ignore signals: the serving process stops this process when requests in progress are
        # finished.
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, signal.SIG_IGN)
        with Store.open(place, background_cards=True) as store:
            is_loaded = False
            while True:
                job = pipe.recv()
                if not is_loaded:
                    _load_model(store)
                    is_loaded = True
                pipe.send(STARTED)
                outcome, is_exhausted = _outcome(job, store)
                pipe.send(outcome)
                if is_exhausted:
                    # End this process after it ran out of memory; its replacement starts with free
                    # memory.
                    break
                _clear_stale(store, pipe)
    finally:
        os._exit(0)


def _load_model(store: Store) -> None:
    """Load the model before the first job, whose timeout must not include this time."""
    try:
        state = store.state()
        state.predict(state.graph.targets[:1])
    except Exception:
        # The caller of the next job gets the same error from the job itself.
        LOG.exception("the model of the newest version cannot be loaded")


def _clear_stale(store: Store, pipe: "Connection[Any, Any]") -> None:
    """Recompute stale rows while there is no job, so that the next change is faster."""
    try:
        cleared = store.parts.states.clear_stale(STALE_ROWS, until=pipe.poll)
    except Exception:
        # A failure here makes the next change slower; predictions stay correct. So log and go on.
        LOG.exception("stale rows could not be recomputed")
        return
    if cleared.rows:
        fields = {"rows": cleared.rows, "rows_per_second": round(cleared.rate)}
        LOG.info("stale rows were recomputed", extra={"fields": fields})


def _outcome(job: Callable[[Store], Any], store: Store) -> tuple[tuple[bool, Any], bool]:
    """Run a job; return its success with its result or error, and whether memory ran out."""
    try:
        return (True, job(store)), False
    except HttpError as error:
        return (False, error), False
    except NodegraftError as error:
        return (False, http_error(error)), False
    except MemoryError:
        LOG.exception("a change needs more memory than there is")
        message = "The change needs more memory than the service can get, and was not made."
        return (False, HttpError(503, "out_of_memory", message, _AFTER_A_STOP)), True
    except Exception as error:
        return (False, internal_error(error)), False
