"""One confidence: the same three numbers, by the same names, on every surface."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.store.store import Store
from tests.service.served import asked

NAMES = ("confidence", "probability", "known")
CONFIG = '<View><Text name="text" value="$text"/><Choices name="class" toName="text"/></View>'


@pytest.mark.parametrize("world", ["open", "closed"])
def test_every_surface_shows_the_same_numbers(shop: Path, world: Any) -> None:
    node = 77
    with Store.open(shop) as store:
        store.set_setting("world", world)
        state = store.state()
        model = state.model.predict_table(state.graph, [node])
        wanted = {name: float(getattr(model, name)[0]) for name in NAMES}
        table = store.predict([node]).to_arrow().to_pylist()[0]
    factor = wanted["known"] if world == "open" else 1.0
    assert wanted["confidence"] == wanted["probability"] * factor
    said = CliRunner().invoke(app, ["predict", str(shop), "--nodes", str(node), "--json"])
    with asked(shop) as client:
        sent = client.post("/v1/predict", json={"keys": [node]}).json()
        tensor = {"name": "keys", "shape": [1], "datatype": "INT64", "data": [node]}
        tensors = client.post("/v2/models/shop/infer", json={"inputs": [tensor]}).json()
        body = {"tasks": [{"data": {"key": node}}], "label_config": CONFIG}
        tasks = client.post("/label-studio/predict", json=body).json()
        why = client.get(f"/v1/explain?node={node}").json()["explanation"]
    surfaces = {
        "table": table,
        "command line": json.loads(said.output)["predictions"][0],
        "HTTP": sent["predictions"][0],
        "open inference": {one["name"]: one["data"][0] for one in tensors["outputs"]},
        "explain": why,
    }
    for surface, found in surfaces.items():
        assert {name: found[name] for name in NAMES} == pytest.approx(wanted, rel=1e-9), surface
    assert tasks["results"][0]["score"] == pytest.approx(wanted["confidence"], rel=1e-9)
