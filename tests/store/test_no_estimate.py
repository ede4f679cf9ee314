"""A model that cannot tell nodes of unknown classes says so, and never that all are known."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.model.confidence import NO_ESTIMATE
from nodegraft.store.store import Store
from tests.service.served import asked, make_of_tables

NODE = "hats9"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classes are too few to practise with one of them left out."""
    place = tmp_path_factory.mktemp("few") / "shop"
    make_of_tables(place)
    return place


@pytest.fixture
def store(place: Path) -> Iterator[Store]:
    with Store.open(place) as store:
        yield store


def test_known_is_missing_and_confidence_is_the_probability(store: Store) -> None:
    found = store.predict([NODE], min_confidence=0.9)
    assert (store.world, found.note) == ("open", NO_ESTIMATE)
    assert np.isnan(found.known).all()
    assert found.confidence.tolist() == found.probability.tolist()
    assert found.to_arrow()["known"].to_pylist() == [None]
    state = store.state()
    assert state.model.predict_table(state.graph, [NODE]).to_arrow()["known"].to_pylist() == [None]
    why = state.model.explain(state.graph, NODE)
    assert (why["known"], why["note"]) == (None, NO_ESTIMATE)
    assert store.suggest_classes() == []


def test_a_closed_world_needs_no_estimate(place: Path, store: Store) -> None:
    state = store.state().in_world("closed")
    assert state.model.explain(state.graph, NODE)["note"] is None


def test_the_command_line_says_that_there_is_no_estimate(place: Path) -> None:
    def said(*line: str) -> str:
        done = CliRunner().invoke(app, list(line), env={"COLUMNS": "200"})
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    table = said("predict", str(place), "--nodes", NODE, "--min-confidence", "0.1")
    assert " – " in table
    assert "100 %" not in table
    assert NO_ESTIMATE in table
    assert NO_ESTIMATE in said("predict", str(place), "--all", "--csv", str(place / "all.csv"))
    assert NO_ESTIMATE in said("explain", str(place), NODE)
    assert NO_ESTIMATE in said("card", str(place))
    answer = json.loads(said("predict", str(place), "--nodes", NODE, "--json"))["predictions"][0]
    assert answer["known"] is None
    assert answer["confidence"] == answer["probability"]


def test_the_service_sends_null(place: Path) -> None:
    with asked(place) as client:
        answer = client.post("/v1/predict", json={"keys": [NODE]}).json()["predictions"][0]
        nodes = client.get("/v1/map").json()["nodes"]
        why = client.get(f"/v1/explain?node={NODE}").json()["explanation"]
        summary = client.get("/v1/summary").json()
    assert answer["known"] is None
    assert answer["confidence"] == answer["probability"]
    assert {one["known"] for one in nodes} == {None}
    assert (why["known"], why["note"]) == (None, NO_ESTIMATE)
    assert (summary["world"], summary["share_of_known_classes"]) == ("open", None)
