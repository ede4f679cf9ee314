"""Traces: what a collector is told of requests, and what never."""

import os
import sys
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from nodegraft.base.errors import MissingExtraError, ParameterError
from nodegraft.service.server import serve
from nodegraft.service.settings import Settings, trace_exporters
from nodegraft.store.scope import Scope
from tests.service.collector import attributes, collecting
from tests.service.running import running
from tests.service.served import asked, make_of_tables
from tests.service.token_help import added

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_collector_gets_one_span_for_each_request_and_nothing_that_was_asked(
    tmp_path: Path,
) -> None:
    place = tmp_path / "shop"
    make_of_tables(place)
    secret = added(place, "anna", Scope.READ)
    with collecting() as collector:

        def prepare() -> None:
            os.environ["OTEL_TRACES_EXPORTER"] = "otlp"
            os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.address
            os.environ["OTEL_SERVICE_NAME"] = "shop-of-today"

        # The service is stopped before the spans are looked at: it sends its last ones first.
        with running(place, prepare) as life:
            told = {"Authorization": f"Bearer {secret}"}
            parent = {"traceparent": f"00-{TRACE}-{PARENT}-01"}
            body = {"keys": ["hats3", "shoes7"]}
            assert life.ask("POST", "/v1/predict", body, **told, **parent)[0] == 200
            assert life.ask("GET", "/v1/explain?node=hats4", **told)[0] == 200
            assert life.ask("DELETE", "/v1/classes/hats", **told)[0] == 403
            assert life.ask("POST", "/v1/predict", body)[0] == 401
            assert life.ask("GET", "/no/such/path/hats5", **told)[0] == 404
    spans = [span for span in collector.spans if not span.name.endswith("/readyz")]
    assert [span.name for span in spans] == [
        "POST /v1/predict",
        "GET /v1/explain",
        "DELETE /v1/classes/{name:path}",
        "POST none",
        "GET none",
    ]
    assert [attributes(span)["http.response.status_code"] for span in spans] == [
        200,
        200,
        403,
        401,
        404,
    ]
    assert attributes(spans[0]) == {
        "http.request.method": "POST",
        "http.route": "/v1/predict",
        "http.response.status_code": 200,
        "nodegraft.model_version": 1,
    }
    assert {span.kind for span in spans} == {Span.SPAN_KIND_SERVER}
    assert spans[0].trace_id.hex() == TRACE
    assert spans[0].parent_span_id.hex() == PARENT
    assert spans[1].trace_id.hex() != TRACE
    assert all(one["service.name"] == "shop-of-today" for one in collector.resources)
    # Whatever the parts of a span are called: no key, class, name or token is in any of them.
    sent = b"".join(collector.bodies)
    for word in ("hats", "shoes", "anna", secret):
        assert word.encode() not in sent


def test_an_error_of_ours_is_one_in_its_span_without_its_words(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("felt hat of anna")

    with collecting() as collector:
        monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        monkeypatch.setattr("nodegraft.service.routes.predict.suggestions", broken)
        with asked(shop) as client:
            assert client.get("/v1/suggest").status_code == 500
    (span,) = collector.spans
    assert span.status.code == Status.STATUS_CODE_ERROR
    assert collector.resources[0]["service.name"] == "nodegraft"
    assert b"felt" not in collector.bodies[0]


def test_a_collector_that_is_not_there_keeps_nobody_from_answering(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    with asked(shop) as client:
        assert client.get("/v1/classes").status_code == 200


def test_without_the_variable_nothing_is_traced(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
        with asked(shop) as client:
            client.get("/v1/classes")
    assert not collector.bodies


def test_who_lacks_the_packages_is_told_which(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.delitem(sys.modules, "nodegraft.service.traces", raising=False)
    # As where only another package brought OpenTelemetry, without what sends spans.
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(MissingExtraError, match=r"nodegraft\[traces\]"):
        serve(Settings(shop))


@pytest.mark.parametrize(
    ("variables", "told"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "'zipkin'.*otlp or console"),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "'grpc'.*4318",
        ),
    ],
)
def test_what_is_not_spoken_here_is_refused(variables: dict[str, str], told: str) -> None:
    with pytest.raises(ParameterError, match=told):
        trace_exporters(variables)


def test_the_standard_switch_turns_all_off() -> None:
    assert trace_exporters({"OTEL_TRACES_EXPORTER": "none"}) == ()
    assert trace_exporters({"OTEL_TRACES_EXPORTER": "console", "OTEL_SDK_DISABLED": "true"}) == ()
