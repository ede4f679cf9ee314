"""A service as processes that listen."""

import os
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from nodegraft.base.extras import extra
from nodegraft.service.limits import DRAIN_SECONDS, START_SECONDS
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store

with extra("serve", package="uvicorn", purpose="A service"):
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from nodegraft.service.logs import LOGGING
    from nodegraft.service.metrics import SEVERAL_WORKERS
    from nodegraft.service.patience import ImpatientProtocol

if TYPE_CHECKING:
    from fastapi import FastAPI


def serve(settings: Settings) -> None:
    """Answer until a signal comes; then end what has begun, and return.

    Args:
        settings: How it is run.
    """
    settings.check()
    # Whoever named a wrong folder is told before anything is started.
    Store.open(settings.store).close()
    config = _config(settings)
    if settings.workers == 1:
        uvicorn.Server(config).run()
        return
    with TemporaryDirectory() as counts:
        os.environ[SEVERAL_WORKERS] = counts
        Multiprocess(config, sockets=[config.bind_socket()]).run()


def _config(settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        partial(_application, settings),
        factory=True,
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        http=ImpatientProtocol,
        lifespan="on",
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

    return application(settings)
