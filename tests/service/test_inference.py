"""The Open Inference Protocol, as its clients speak it."""

from pathlib import Path
from typing import Any

import pytest

from nodegraft.store.store import Store
from tests.service.served import KNOWN, asked


def tensor(**other: Any) -> dict[str, Any]:
    return {"name": "keys", "shape": [3], "datatype": "INT64", "data": KNOWN, **other}


def test_a_server_and_its_model_say_what_they_are(first: tuple[Path, Any]) -> None:
    with asked(first[0]) as client:
        assert client.get("/v2").json()["name"] == "nodegraft"
        assert client.get("/v2/health/live").json() == {"live": True}
        assert client.get("/v2/health/ready").json() == {"ready": True}
        about = client.get("/v2/models/shop").json()
        assert (about["name"], about["versions"]) == ("shop", ["1"])
        assert about["inputs"] == [{"name": "keys", "datatype": "INT64", "shape": [-1]}]
        assert client.get("/v2/models/shop/ready").json() == {"name": "shop", "ready": True}
        assert client.get("/v2/models/other").status_code == 404


@pytest.mark.parametrize("sent", [{}, {"shape": [3, 1], "data": [[key] for key in KNOWN]}])
def test_nodes_are_answered_as_by_the_store(sent: dict[str, Any], first: tuple[Path, Any]) -> None:
    with Store.open(first[0]) as store:
        wanted = store.predict(KNOWN)
    with asked(first[0]) as client:
        body = {"id": "42", "inputs": [tensor(**sent)], "outputs": [{"name": "class"}]}
        answer = client.post("/v2/models/shop/infer", json=body).json()
    assert (answer["id"], answer["model_name"], answer["model_version"]) == ("42", "shop", "1")
    assert answer["parameters"]["graph_version"]
    outputs = {one["name"]: one for one in answer["outputs"]}
    classes, confidence = outputs["class"], outputs["confidence"]
    assert classes == {"name": "class", "shape": [3], "datatype": "BYTES", "data": wanted.classes}
    assert confidence["datatype"] == "FP64"
    for name in ("confidence", "probability", "known"):
        assert outputs[name]["data"] == getattr(wanted, name).tolist()
    assert outputs["label"]["data"] == [label or "" for label in wanted.labels]
    assert outputs["prediction"]["data"] == wanted.predictions
    assert outputs["reason"]["data"] == wanted.reasons


def test_an_unknown_key_is_answered_without_a_class(first: tuple[Path, Any]) -> None:
    body: dict[str, Any] = {"inputs": [tensor(data=[*KNOWN[:2], 99_999])]}
    with asked(first[0]) as client:
        answer = client.post("/v2/models/shop/infer", json=body).json()
        outputs = {one["name"]: one["data"] for one in answer["outputs"]}
        assert (outputs["class"][2], outputs["confidence"][2]) == ("", 0.0)
        assert outputs["reason"][2] == "unknown_key"
        assert all(outputs["class"][:2])
        refused = client.post(
            "/v2/models/shop/infer", json={**body, "parameters": {"missing": "error"}}
        )
        assert refused.status_code == 404
        assert "99999" in refused.json()["error"]
        assert '"parameters": {"missing": "null"}' in refused.json()["error"]
        null = client.post("/v2/models/shop/infer", json={**body, "parameters": None})
        assert null.json() == answer


@pytest.mark.parametrize(
    "sent",
    [
        {"shape": [4]},
        {"name": "nodes"},
        {"datatype": "BYTES"},
        {"data": ["1", "2", "3"]},
        {"data": [[1, 2], 3, 4]},
        {"data": [True, 2, 3]},
        {"shape": [0], "data": []},
        {"datatype": "FP32"},
    ],
)
def test_mistakes_are_told_as_the_protocol_says(
    sent: dict[str, Any], first: tuple[Path, Any]
) -> None:
    with asked(first[0]) as client:
        answer = client.post("/v2/models/shop/infer", json={"inputs": [tensor(**sent)]})
    assert 400 <= answer.status_code < 500
    assert isinstance(answer.json()["error"], str)
