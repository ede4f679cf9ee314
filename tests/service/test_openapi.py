"""Answers are as the OpenAPI document says, to what it allows and to much that it does not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient

from nodegraft.service.app import application
from nodegraft.service.settings import Settings
from tests.service.served import asked, make_of_tables
from tests.slow_suite import examples

SCHEMA = schemathesis.openapi.from_dict(application(Settings(Path("nowhere"))).openapi())
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    place = tmp_path_factory.mktemp("openapi") / "shop"
    make_of_tables(place)
    with asked(place) as client:
        yield client


@SCHEMA.parametrize()
@settings(
    max_examples=examples(thorough=500, quick=8),
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
def test_answers_are_as_the_document_says(
    case: "schemathesis.Case[Any]", client: TestClient
) -> None:
    sent = case.as_transport_kwargs(base_url="http://localhost")
    # There are none, and the client warns of them; bytes have another name there.
    del sent["cookies"]
    sent["content"] = sent.pop("data", None)
    answer = client.request(**sent)
    case.validate_response(answer, checks=CHECKS)
