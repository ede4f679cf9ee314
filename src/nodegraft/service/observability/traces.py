"""One span for each request, for any collector that speaks OpenTelemetry.

A span says route, status and version, never what was asked: no key, no feature, no token.
"""

from importlib.metadata import version

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Connection

from nodegraft.base.extras import extra
from nodegraft.service.auth.middleware import METHODS
from nodegraft.service.observability.trace_settings import wanted_exporters

with extra("traces", package="opentelemetry", purpose="Tracing (OTEL_TRACES_EXPORTER)"):
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.propagate import extract
    from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor, ConsoleSpanExporter
    from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer

NAME = "nodegraft"


def tracer_provider() -> TracerProvider:
    """What makes spans and sends them on, as the variables of OpenTelemetry say.

    Spans are sent by a thread of its own: no request waits for a collector.
    """
    found = Resource.create({SERVICE_VERSION: version(NAME)})
    if str(found.attributes[SERVICE_NAME]).startswith("unknown_service"):
        found = found.merge(Resource({SERVICE_NAME: NAME}))
    provider = TracerProvider(resource=found)
    for name in wanted_exporters():
        exporter = OTLPSpanExporter() if name == "otlp" else ConsoleSpanExporter()
        provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider


class Traced:
    """Around an application: each request is a span, below that of a caller who sends its own.

    Args:
        app: What is traced.
        tracer: Makes the spans.
    """

    def __init__(self, app: ASGIApp, tracer: Tracer) -> None:
        self._app, self._tracer = app, tracer

    async def __call__(self, connection: Connection, receive: Receive, send: Send) -> None:
        """Let a request pass."""
        if connection["type"] != "http":
            await self._app(connection, receive, send)
            return
        status = 0

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        parent = extract(Headers(scope=connection))
        span = self._tracer.start_span("request", parent, SpanKind.SERVER)
        # Whoever answers takes the version as soon as it begins.
        span.set_attribute("nodegraft.model_version", connection["app"].state.service.now.version)
        try:
            await self._app(connection, receive, noted)
        finally:
            _describe(span, connection, status)
            span.end()


def _describe(span: Span, connection: Connection, status: int) -> None:
    """What is known when a request has ended; a path may hold names, its route does not."""
    route = getattr(connection.get("route"), "path", "none")
    method = connection["method"] if connection["method"] in METHODS else "other"
    span.update_name(f"{method} {route}")
    span.set_attribute("http.request.method", method)
    span.set_attribute("http.route", route)
    span.set_attribute("http.response.status_code", status)
    # Nobody answered: the caller went away, or an error came after the first byte.
    if not status or status >= 500:
        span.set_status(StatusCode.ERROR)
