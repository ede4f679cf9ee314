"""The application: routes behind a door, over a store that is opened when it starts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from nodegraft.base.extras import extra

with extra("serve", package="fastapi", purpose="A service"):
    from fastapi import FastAPI

from nodegraft.service.auth.middleware import Door
from nodegraft.service.auth.tokens import TokenCache
from nodegraft.service.errors import explain_errors
from nodegraft.service.inputs import BEARER
from nodegraft.service.live.draining import Draining
from nodegraft.service.live.writer_process import Workshop
from nodegraft.service.observability.metrics import Metrics
from nodegraft.service.observability.trace_settings import wanted_exporters
from nodegraft.service.routes import (
    asking,
    classes,
    diff,
    drift,
    health,
    inference,
    label_studio,
    labels,
    node_map,
    nodes,
    page,
    sessions,
    summary,
    versions,
    whoami,
)
from nodegraft.service.schemas import Refused, refused_as
from nodegraft.service.service import Service
from nodegraft.service.settings import Settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

OPEN = (health.OPEN, inference.OPEN, page.OPEN)
GUARDED = (
    asking.ROUTER,
    classes.READING,
    classes.TEACHING,
    diff.ROUTER,
    drift.ROUTER,
    label_studio.READING,
    label_studio.TEACHING,
    labels.ROUTER,
    node_map.ROUTER,
    nodes.READING,
    nodes.GROWING,
    sessions.READING,
    sessions.TEACHING,
    summary.ROUTER,
    versions.READING,
    versions.TEACHING,
    versions.CHOOSING,
    whoami.ROUTER,
    health.READING,
    inference.READING,
)


def application(settings: Settings, workshop: Workshop | None = None) -> FastAPI:
    """A service, for any server that speaks ASGI.

    Args:
        settings: How it is run.
        workshop: Where versions are made; None for a thread of this process.
    """
    metrics = Metrics()
    traces = _traces()
    tokens, draining = TokenCache(settings.store), Draining(settings.notice_seconds)

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        # Tokens come first: nobody is answered before it is known who may ask.
        await run_sync(tokens.start)
        try:
            app.state.service = await run_sync(Service.open, settings, metrics, workshop)
            draining.watch()
            yield
            await run_sync(app.state.service.close)
        finally:
            await run_sync(tokens.stop)
        if traces:
            # Spans of the last seconds are still to be sent.
            await run_sync(traces.shutdown)

    app = FastAPI(
        title="nodegraft",
        version=version("nodegraft"),
        summary="Predict classes of nodes, and add new classes from a few examples.",
        lifespan=running,
        # These pages would load scripts from another host.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=refused_as(Refused),
    )
    app.state.tokens, app.state.draining = tokens, draining
    for router in OPEN:
        app.include_router(router)
    for router in GUARDED:
        app.include_router(router, dependencies=[BEARER])
    explain_errors(app)
    app.add_middleware(Door, settings=settings, tokens=tokens, metrics=metrics)
    if traces:
        from nodegraft.service.observability.traces import Traced

        app.add_middleware(Traced, tracer=traces.get_tracer("nodegraft"))
    return app


def _traces() -> "TracerProvider | None":
    if not wanted_exporters():
        return None
    from nodegraft.service.observability.traces import tracer_provider  # OpenTelemetry is an extra

    return tracer_provider()
