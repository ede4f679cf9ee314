"""The ASGI application: all routes behind the middleware, over a store that opens at startup."""

import asyncio
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

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


class Draining:
    """Whether a service has received SIGTERM and should get no new requests.

    Readiness becomes false first; the server's own handler runs some seconds later.

    Args:
        seconds: How long to continue to serve after SIGTERM, so that load balancers notice.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.has_started = False

    def watch(self) -> None:
        """Run before the server's handler of SIGTERM; call this after that handler is installed."""
        server = signal.getsignal(signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread() or not callable(server):
            return
        loop = asyncio.get_running_loop()

        def stop(number: int, frame: FrameType | None) -> None:
            if self.has_started:
                # A second SIGTERM stops the service at once.
                server(number, frame)
                return
            self.has_started = True
            loop.call_soon_threadsafe(loop.call_later, self._seconds, server, number, None)

        signal.signal(signal.SIGTERM, stop)


def application(settings: Settings, writer_process: WriterProcess | None = None) -> FastAPI:
    """Return the ASGI application of a service.

    Args:
        writer_process: Process that makes versions; None for a thread of this process.
    """
    metrics, traces = Metrics(), _tracer_provider()
    tokens, draining = TokenCache(settings.store), Draining(settings.notice_seconds)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Tokens are read first: without them no caller can be identified.
        await run_sync(tokens.start)
        try:
            app.state.service = await run_sync(Service.open, settings, metrics, writer_process)
            draining.watch()
            yield
            await run_sync(app.state.service.close)
        finally:
            await run_sync(tokens.stop)
        if traces:
            # Send the spans that are still buffered.
            await run_sync(traces.shutdown)

    app = FastAPI(
        title="nodegraft",
        version=version("nodegraft"),
        summary="Predict classes of nodes, and add new classes from a few examples.",
        lifespan=lifespan,
        # FastAPI's pages of documentation would load scripts from another host.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=error_responses(ErrorResponse),
    )
    app.state.tokens, app.state.draining = tokens, draining
    for router in _routers():
        app.include_router(router)
    add_error_handlers(app)
    app.add_middleware(RequestMiddleware, settings=settings, tokens=tokens, metrics=metrics)
    if traces:
        from nodegraft.service.traces import TraceMiddleware

        app.add_middleware(TraceMiddleware, tracer=traces.get_tracer("nodegraft"))
    return app


def _routers() -> Iterator[APIRouter]:
    """Yield every router that a file in `routes/` defines; refuse one that checks no scope."""
    for file in iter_modules(routes.__path__, f"{routes.__name__}."):
        for value in vars(import_module(file.name)).values():
            if isinstance(value, APIRouter):
                require_scopes(value)
                yield value


def require_scopes(router: APIRouter) -> None:
    """Raise an error if any token would do for a route that is not open to everybody."""
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
    from nodegraft.service.traces import tracer_provider  # OpenTelemetry is an extra

    return tracer_provider()
