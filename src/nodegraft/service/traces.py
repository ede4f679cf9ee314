"""OpenTelemetry traces: a span per request with route, status and version, without user data."""

from importlib.metadata import version

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from nodegraft.base.extras import extra
from nodegraft.service.auth.middleware import METHODS
from nodegraft.service.settings import trace_exporters

with extra("traces", package="opentelemetry", purpose="Tracing (OTEL_TRACES_EXPORTER)"):
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.propagate import extract
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

NAME = "nodegraft"


def tracer_provider() -> TracerProvider:
    """Return a tracer provider that is configured by OpenTelemetry's environment variables.

    Spans are sent by a separate thread, so that no request waits for the collector.
    """
    resource = Resource.create({SERVICE_VERSION: version(NAME)})
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: NAME}))
    provider = TracerProvider(resource=resource)
    for name in trace_exporters():
        exporter = OTLPSpanExporter() if name == "otlp" else ConsoleSpanExporter()
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


class TraceMiddleware:
    """Middleware that makes a span for each request, as a child of the caller's span.

    Args:
        app: Application that handles requests.
        tracer: Tracer that makes the spans.
    """

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self._app, self._tracer = app, tracer

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Forward a request to the application, within a span."""
        if connection["type"] != "http":
            await self._app(connection, receive, send)
            return
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        parent = extract(Headers(scope=connection))
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        # Read the live version when the request starts, because routes do so, too.
        span.set_attribute("nodegraft.model_version", connection["app"].state.service.now.version)
        try:
            await self._app(connection, receive, watched)
        finally:
            _describe(span, connection, status)
            span.end()


def _describe(span: Span, connection: Connection, status: int) -> None:
    """Set name and attributes of a span.

    The path is not used, because it may contain names of nodes or classes.
    """
    route = getattr(connection.get("route"), "path", "none")
    method = connection["method"] if connection["method"] in METHODS else "other"
    span.update_name(f"{method} {route}")
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    # Status 0 means that the caller disconnected, or that an error occurred after the response had
    # started.
    if not status or status >= 500:
        span.set_status(StatusCode.ERROR)
