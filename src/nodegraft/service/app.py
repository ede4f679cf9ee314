"""ASGI application of a service: middleware, routes, and a store that is opened at startup."""

import asyncio
import gc
import signal
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from importlib import import_module
from importlib.metadata import version
from pkgutil import iter_modules
from types import FrameType
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from nodegraft.base.extras import extra

with extra("serve", package="fastapi", purpose="A service"):
    from fastapi import APIRouter, FastAPI

from nodegraft.service import routes
from nodegraft.service.auth.middleware import OPEN, RequestMiddleware
from nodegraft.service.auth.tokens import TokenCache
from nodegraft.service.dependencies import BEARER
from nodegraft.service.errors import add_error_handlers
from nodegraft.service.live.writer_process import WriterProcess
from nodegraft.service.observability import Metrics
from nodegraft.service.routes.page import PAGE_FILES
from nodegraft.service.schemas import ErrorResponse, error_responses
from nodegraft.service.service import Service
from nodegraft.service.settings import Settings, trace_exporters
from nodegraft.service.several_labels import has_several_labels
from nodegraft.service.several_labels import routers as several_labels_routers

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


class Draining:
    """Shutdown state of a service: whether it received SIGTERM and should get no new requests.

    After SIGTERM, `/readyz` reports false at once; the server's own SIGTERM handler runs some
    seconds later.

    Args:
        seconds: Time to continue serving after SIGTERM, until load balancers have noticed.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.has_started = False

    def watch(self) -> None:
        """Install a SIGTERM handler that delays the server's handler, which must exist already."""
        server = signal.getsignal(signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread() or not callable(server):
            return
        loop = asyncio.get_running_loop()

        def stop(number: int, frame: FrameType | None) -> None:
            if self.has_started:
                # A second SIGTERM stops the service without delay.
                server(number, frame)
                return
            self.has_started = True
            loop.call_soon_threadsafe(loop.call_later, self._seconds, server, number, None)

        signal.signal(signal.SIGTERM, stop)


def application(settings: Settings, writer_process: WriterProcess | None = None) -> FastAPI:
    """Return the ASGI application of a service.

    Args:
        writer_process: Process that makes versions; None to make them in a thread of this process.
    """
    metrics, traces = Metrics(), _tracer_provider()
    tokens, draining = TokenCache(settings.store), Draining(settings.notice_seconds)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Read the tokens first: without tokens, no caller can be identified.
        await run_sync(tokens.start)
        try:
            _collect_garbage_less_often()
            app.state.service = await run_sync(Service.open, settings, metrics, writer_process)
            draining.watch()
            yield
            await run_sync(app.state.service.close)
        finally:
            await run_sync(tokens.stop)
        if traces:
            # Send spans that are still in the buffer.
            await run_sync(traces.shutdown)

    app = FastAPI(
        title="nodegraft",
        version=version("nodegraft"),
        summary="Predict classes of nodes, and add new classes from a few examples.",
        lifespan=lifespan,
        # Disable FastAPI's documentation pages: they load scripts from another host.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=error_responses(ErrorResponse),
    )
    app.state.tokens, app.state.draining = tokens, draining
    several = has_several_labels(settings.store)
    for router in several_labels_routers(_routers()) if several else _routers():
        app.include_router(router)
    add_error_handlers(app)
    app.add_middleware(RequestMiddleware, settings=settings, tokens=tokens, metrics=metrics)
    if traces:
        from nodegraft.service.traces import TraceMiddleware

        app.add_middleware(TraceMiddleware, tracer=traces.get_tracer("nodegraft"))
    return app


def _collect_garbage_less_often() -> None:
    """Make responses with thousands of Python objects cheaper: each would start collections."""
    # Call this before the store is opened: reference cycles of a frozen version are never freed.
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)


def _routers() -> Iterator[APIRouter]:
    """Yield each router in the modules of `routes/`; refuse a router that checks no scope."""
    for file in iter_modules(routes.__path__, f"{routes.__name__}."):
        for value in vars(import_module(file.name)).values():
            if isinstance(value, APIRouter):
                require_scopes(value)
                yield value


def require_scopes(router: APIRouter) -> None:
    """Raise an error if a route that needs a token checks no scope."""
    for route in router.routes:
        path = getattr(route, "path", "")
        checks = getattr(route, "dependencies", ())
        if path not in OPEN and path not in PAGE_FILES and BEARER not in checks:
            raise ValueError(
                f"The route {path} checks no scope: make its router with "
                "`nodegraft.service.dependencies.router`."
            )


def _tracer_provider() -> "TracerProvider | None":
    if not trace_exporters():
        return None
    from nodegraft.service.traces import tracer_provider  # OpenTelemetry is optional.

    return tracer_provider()
