"""Whatever is sent, nothing fails that is not the caller's mistake."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests.service.served import KEYS, WORDS, asked, make_of_tables
from tests.slow_suite import examples

SETTINGS = settings(
    max_examples=examples(thorough=2_000, quick=40),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

texts = st.text(alphabet=st.characters(), max_size=8)
plain = st.none() | st.booleans() | st.integers() | st.floats() | texts
anything = st.recursive(
    plain, lambda some: st.lists(some, max_size=4) | st.dictionaries(texts, some, max_size=4)
)
keys = st.lists(st.sampled_from(KEYS) | st.integers() | texts, max_size=6)
rows = st.lists(
    st.dictionaries(
        st.sampled_from(["key", "source", "target", "text", "price"]) | texts,
        st.sampled_from(KEYS) | plain | st.lists(plain, max_size=3),
        max_size=4,
    ),
    max_size=3,
)
tensors = st.fixed_dictionaries(
    {
        "name": st.just("keys") | texts,
        "shape": st.lists(st.integers(-1, 4), max_size=3),
        "datatype": st.sampled_from(["INT64", "BYTES", "FP64"]) | texts,
        "data": st.lists(plain | keys, max_size=4),
    }
)
names = st.sampled_from(list(WORDS)) | texts
marks = st.fixed_dictionaries(
    {"type": st.just("choices") | texts},
    optional={"value": st.fixed_dictionaries({"choices": st.lists(names, max_size=2)}) | anything},
)
annotations = st.fixed_dictionaries(
    {"result": st.lists(marks, max_size=2) | plain}, optional={"was_cancelled": plain}
)
tasks = st.fixed_dictionaries(
    {
        "data": st.fixed_dictionaries(
            {}, optional={"key": st.sampled_from(KEYS) | plain, "image": texts}
        )
    },
    optional={"annotations": st.lists(annotations, max_size=2)},
)
interfaces = st.just('<Choices name="kind" toName="text"/>') | texts
events = st.sampled_from(["ANNOTATION_CREATED", "ANNOTATIONS_CREATED", "ANNOTATION_UPDATED"])
FORMS: dict[str, st.SearchStrategy[Any]] = {
    "/v1/predict": st.fixed_dictionaries(
        {"keys": keys},
        optional={
            "top": plain,
            "min_confidence": plain,
            "missing": st.sampled_from(["error", "skip", "null"]) | plain,
            "ignore_labels": plain,
        },
    ),
    "/v1/classes": st.fixed_dictionaries(
        {"classes": st.dictionaries(texts, keys, max_size=2)},
        optional={"note": texts, "override": texts},
    ),
    "/v1/changes": st.fixed_dictionaries(
        {"action": st.sampled_from(["add", "label", "relabel", "unlabel", "merge"]) | texts},
        optional={
            "classes": st.dictionaries(names, keys, max_size=2),
            "more": st.dictionaries(names, keys, max_size=2),
            "keys": keys,
            "names": st.lists(names, max_size=2),
            "into": names,
            "dry_run": plain,
        },
    ),
    "/v1/labels": st.fixed_dictionaries({"labels": st.dictionaries(texts, keys, max_size=2)}),
    "/v1/nodes": st.fixed_dictionaries(
        {}, optional={"nodes": rows, "edges": rows, "dry_run": plain}
    ),
    "/label-studio/predict": st.fixed_dictionaries(
        {"tasks": st.lists(tasks, max_size=3), "label_config": interfaces}
    ),
    "/label-studio/webhook": st.fixed_dictionaries(
        {
            "action": events | texts,
            "task": tasks | st.lists(tasks, max_size=2),
            "annotation": annotations | st.lists(annotations, max_size=2),
        }
    ),
    "/label-studio/train": st.fixed_dictionaries({"annotations": st.lists(tasks, max_size=3)}),
    "/v2/models/shop/infer": st.fixed_dictionaries(
        {"inputs": st.lists(tensors, max_size=2)}, optional={"parameters": anything}
    ),
}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    place = tmp_path_factory.mktemp("fuzz") / "shop"
    make_of_tables(place)
    with asked(place) as client:
        yield client


@pytest.mark.parametrize("path", FORMS)
@SETTINGS
@given(data=st.data())
def test_bodies(path: str, client: TestClient, data: st.DataObject) -> None:
    body = data.draw(FORMS[path] | anything)
    headers = {"Content-Type": "application/json"}
    answer = client.post(path, content=json.dumps(body), headers=headers)
    assert answer.status_code < 500, answer.text


@SETTINGS
@given(
    method=st.sampled_from(["GET", "POST", "DELETE", "PUT", "HEAD", "STRANGE"]),
    path=st.sampled_from(
        [
            "/v1/explain?node={}",
            "/v1/suggest?count={}",
            "/v1/history?limit={}",
            "/v1/nodes?words={}",
            "/v1/nodes?key={}",
            "/v1/drift?before={}",
            "/v1/versions/{}:undo",
            "/v1/versions/{}:promote",
            "/v1/classes/{}",
            "/v2/models/{}/infer",
            "/{}",
        ]
    ),
    value=st.integers().map(str) | texts,
)
def test_addresses(method: str, path: str, value: str, client: TestClient) -> None:
    address = path.format(quote(value.encode(errors="replace"), safe=""))
    assert client.request(method, address).status_code < 500
