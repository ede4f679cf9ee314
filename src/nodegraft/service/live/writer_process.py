"""Writer process: it makes versions, so that requests to the serving process are not delayed."""

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

    A process that died or exceeded the timeout of a job is replaced at the next job. The failed job
    is not repeated: if it ran out of memory, it would probably run out of memory again.

    Args:
        place: Folder of the store.
        process: Process ID.
        pipe: Pipe to the process.
        job_seconds: Timeout of one job.
    """

    def __init__(
        self, place: Path, process: int, pipe: "Connection[Any, Any]", job_seconds: float
    ) -> None:
        self._place, self._job_seconds = place, job_seconds
        self._process: int | None = process
        self._pipe = pipe
        self._is_started = self._is_closing = False
        self._job_lock = Lock()  # Held during a job, so that no other thread closes the pipe.
        self._process_lock = Lock()  # Held while the process is killed, waited for or replaced.

    @classmethod
    def fork(cls, place: Path, job_seconds: float = JOB_SECONDS) -> "WriterProcess | None":
        """Fork a writer process for a store; return None on systems where forking is not safe."""
        if sys.platform != "linux":
            return None
        ours, theirs = Pipe()
        with warnings.catch_warnings():
            # Ignore the warning of Python 3.12 and later about threads: no thread holds a lock yet.
            warnings.simplefilter("ignore", DeprecationWarning)
            process = os.fork()
        if not process:
            _run_jobs(place, theirs)
        theirs.close()
        return cls(place, process, ours, job_seconds)

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
                self._kill()
            self._job_lock.acquire()
        try:
            self._pipe.close()
            self._reap(CLOSE_SECONDS)
        finally:
            self._job_lock.release()

    def _run(self, job: Callable[[Store], Any], may_repeat: bool = True) -> tuple[bool, Any]:
        """Run a job; return whether it succeeded, and its result or error."""
        # Before its first job, a new process imports models; this step has its own timeout.
        seconds = self._job_seconds if self._is_started else START_SECONDS
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
            self._kill()
            self._pipe.close()
            self._reap(0.0)
            if self._is_closing:
                message = "The service is being stopped, and the change did not end in time."
                raise HttpError(503, "stopping", message, _AFTER_A_STOP)
            self._pipe, theirs = Pipe()
            # Start a new interpreter: this process now has threads, so forking is not safe.
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
            # Wait until another thread has finished killing the process: after it ended, its ID may
            # be used again.
            timer.join()

    def _kill(self) -> None:
        if self._process is not None:
            os.kill(self._process, signal.SIGKILL)

    def _reap(self, seconds: float) -> None:
        """Wait until the process ends; kill it after a timeout."""
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
    """Run a replacement writer process; its arguments are a folder and a file descriptor."""
    from logging.config import dictConfig

    from nodegraft.service.observability import LOGGING

    dictConfig(LOGGING)
    place, descriptor = sys.argv[-2:]
    _run_jobs(Path(place), Connection(int(descriptor)), is_replacement=True)


def _run_jobs(place: Path, pipe: "Connection[Any, Any]", is_replacement: bool = False) -> NoReturn:
    try:
        # Ignore signals: the serving process stops this process when requests in progress are
        # finished.
        for kind in (signal.SIGINT, signal.SIGTERM):
            signal.signal(kind, signal.SIG_IGN)
        # Close inherited descriptors, in particular the listening socket.
        os.closerange(3, pipe.fileno())
        os.closerange(pipe.fileno() + 1, os.sysconf("SC_OPEN_MAX"))
        with Store.open(place, background_cards=True) as store:
            if is_replacement:
                _load_model(store)
            while True:
                job = pipe.recv()
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
