"""Start a service in this process, in worker processes, or as a replica of another server."""

import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from logging.config import dictConfig
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.service.auth.limits import BACKLOG, DRAIN_SECONDS, MAX_CONNECTIONS, START_SECONDS
from nodegraft.service.settings import Settings, trace_exporters
from nodegraft.store.access import StoreTokens
from nodegraft.store.store import Store

with extra("serve", package="uvicorn", purpose="A service"):
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from nodegraft.service.auth.timeouts import FLOOD, TimeoutProtocol
    from nodegraft.service.observability import LOGGING, SEVERAL_WORKERS

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(settings: Settings, announce: Callable[[str], object] = lambda address: None) -> None:
    """Serve until a signal arrives; then finish the requests in progress, and return.

    Args:
        announce: Function that is called with the URL as soon as the port is bound.
    """
    check(settings)
    backlog = _raise_file_limit()
    with _bind(settings) as bound, TemporaryDirectory() as counts:
        announce(settings.address(bound.getsockname()[1]))
        config = _config(settings, backlog)
        if settings.workers == 1:
            uvicorn.Server(config).run(sockets=[bound])
        else:
            os.environ[SEVERAL_WORKERS] = counts
            Multiprocess(config, sockets=[bound]).run()


def check(settings: Settings) -> None:
    """Validate settings before anything is started; raise an error if they are wrong."""
    with StoreTokens.open(settings.store) as tokens:
        settings.check(tokens.read())
    if trace_exporters():
        # If OpenTelemetry is not installed, this import raises an error that names the extra.
        import nodegraft.service.traces  # noqa: F401
    # This raises an error if the folder contains no store.
    Store.open(settings.store).close()


def replica(settings: Settings) -> "FastAPI":
    """Return an application for a process that another server started; configure logging.

    The replica makes versions in a thread of its process.

    Args:
        settings: Settings of the service; each process must find the store under the same path.
    """
    from nodegraft.service.app import application

    dictConfig(LOGGING)
    return application(settings)


def _bind(settings: Settings) -> socket.socket:
    """Bind the port without listening: connections are refused until a worker is ready."""
    bound = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise ParameterError(
            f"Cannot listen on port {settings.port} of {settings.host}: {error.strerror}. Choose "
            "another port with --port, or an address of this machine with --host."
        ) from error
    return bound


def _raise_file_limit() -> int:
    """Raise the limit of open files for all connections; return the backlog of the socket.

    Files are needed for the backlog, too, because all its connections are accepted at once.
    """
    if sys.platform == "win32":
        return BACKLOG
    import resource  # Windows does not have this module.

    limit = FLOOD * MAX_CONNECTIONS + 2 * BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < limit:
        soft = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= limit:
        return BACKLOG
    TimeoutProtocol.limit = min(MAX_CONNECTIONS, soft // (2 * FLOOD))
    return min(BACKLOG, soft // 4)


def _config(settings: Settings, backlog: int) -> uvicorn.Config:
    return uvicorn.Config(
        partial(_application, settings),
        factory=True,
        workers=settings.workers,
        http=TimeoutProtocol,
        # Use asyncio even if uvloop is installed, and no websockets, because this is what the tests
        # cover.
        loop="asyncio",
        ws="none",
        lifespan="on",
        backlog=backlog,
        log_config=LOGGING,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        timeout_worker_healthcheck=START_SECONDS,
    )


def _application(settings: Settings) -> "FastAPI":
    # Import here, because models are slow to import and the supervisor of the workers does not need
    # them.
    from nodegraft.service.app import application
    from nodegraft.service.live.writer_process import WriterProcess

    _raise_file_limit()
    return application(settings, WriterProcess.start(settings.store, settings.job_seconds))
