"""A service as processes that listen."""

import os
import socket
import sys
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nodegraft.base.errors import ParameterError
from nodegraft.base.extras import extra
from nodegraft.service.auth.limits import BACKLOG, DRAIN_SECONDS, MOST_CONNECTIONS, START_SECONDS
from nodegraft.service.observability.trace_settings import wanted_exporters
from nodegraft.service.settings import Settings
from nodegraft.store.access.tokens import StoreTokens
from nodegraft.store.store import Store

with extra("serve", package="uvicorn", purpose="A service"):
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from nodegraft.service.auth.timeouts import FLOOD, TimeoutProtocol
    from nodegraft.service.observability.logs import LOGGING
    from nodegraft.service.observability.metrics import SEVERAL_WORKERS

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(settings: Settings, told: Callable[[str], object] = lambda address: None) -> None:
    """Answer until a signal comes; then end what has begun, and return.

    Args:
        settings: How it is run.
        told: Is told the address, as soon as it is taken.
    """
    check(settings)
    backlog = _make_room()
    with _bound(settings) as bound, TemporaryDirectory() as counts:
        told(settings.address(bound.getsockname()[1]))
        config = _config(settings, backlog)
        if settings.workers == 1:
            uvicorn.Server(config).run(sockets=[bound])
        else:
            os.environ[SEVERAL_WORKERS] = counts
            Multiprocess(config, sockets=[bound]).run()


def check(settings: Settings) -> None:
    """Tell what is wrong with a service before anything is started.

    Args:
        settings: How it is to be run.
    """
    with StoreTokens.open(settings.store) as tokens:
        settings.check(tokens.read())
    if wanted_exporters():
        # Whoever wants traces is told what to install for them.
        import nodegraft.service.observability.traces  # noqa: F401
    # So is whoever named a wrong folder.
    Store.open(settings.store).close()


def _bound(settings: Settings) -> socket.socket:
    """A port that is taken, where nobody listens yet: callers are refused until one can answer."""
    bound = socket.socket(socket.AF_INET6 if ":" in settings.host else socket.AF_INET)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind((settings.host, settings.port))
    except OSError as error:
        bound.close()
        raise ParameterError(
            f"Port {settings.port} of {settings.host} cannot be taken: {error.strerror}. Choose "
            "another one with --port, or an address of this machine with --host."
        ) from error
    return bound


def _make_room() -> int:
    """Allow as many open files as connections need; return how many may wait to be accepted.

    All that wait are accepted at once, before any of them can be closed.
    """
    if sys.platform == "win32":
        return BACKLOG
    import resource  # not on Windows

    wanted = FLOOD * MOST_CONNECTIONS + 2 * BACKLOG
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return BACKLOG
    TimeoutProtocol.most = min(MOST_CONNECTIONS, soft // (2 * FLOOD))
    return min(BACKLOG, soft // 4)


def _config(settings: Settings, backlog: int) -> uvicorn.Config:
    return uvicorn.Config(
        partial(_application, settings),
        factory=True,
        workers=settings.workers,
        http=TimeoutProtocol,
        # Whatever else is installed, a service is the one that was tested.
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
    # Models are slow to import, and who only watches over workers needs none.
    from nodegraft.service.application import application
    from nodegraft.service.live.writer_process import Workshop

    _make_room()
    # Before anything is opened and any thread works: what is copied is small and at rest.
    return application(settings, Workshop.beside(settings.store, settings.job_seconds))
