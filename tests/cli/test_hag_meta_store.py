"""A store with ``--method hag-meta``: init, add, predict, undo within its limits, serve."""

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.graph.keys import Key
from nodegraft.methods.hag_meta import HAGMeta
from nodegraft.store.store import Store
from tests.cli.page_shop import FIRST_BIKE, SHOP, write_tables
from tests.service.served import asked

BIKES: list[Key] = [f"p{FIRST_BIKE + place}" for place in range(5)]
ADD = ["add", "shop", "--class", "e-bikes", "--nodes", ",".join(map(str, BIKES))]
QUICK = ["--set", "episodes=20", "--set", "max_epochs=40"]
# A few epochs make a poor model: the quality gate is not the subject here.
ANYWAY = ["--override", "a test"]


def done(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments, input="y\n", env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@pytest.fixture(params=["none", "support"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_tables(tmp_path)
    adapt = ["--set", f"adapt={request.param}", "--set", "adapt_steps=2"]
    created = done(*SHOP, "--method", "hag-meta", *QUICK, *adapt)
    assert "Created shop: 3 classes" in created
    assert "World: closed (hag-meta has no open-set score)" in created
    return tmp_path / "shop"


def test_a_store_goes_from_init_to_a_served_class_and_back(folder: Path) -> None:
    assert "e-bikes" not in done("predict", "shop", "--nodes", "p91020")
    assert "Dry run: nothing was changed" in done(*ADD, "--dry-run")
    assert "Version 2: add e-bikes (5)" in done(*ADD, *ANYWAY)
    assert "Predicted by version 2" in done("predict", "shop", "--nodes", "p91020", "--version=2")
    assert "Version 3: undo version 2" in done("undo", "shop")
    with Store.open(folder) as store:
        first, second, third = store.history()
        assert third.names == first.names != second.names
        state = store.state(2)
        assert isinstance(state.model, HAGMeta)
        weights = state.model.attention(state.graph).nodes["e-bikes"]
        assert sorted(map(str, weights)) == sorted(map(str, BIKES))
        assert sum(weights.values()) == pytest.approx(1)
    done(*ADD, *ANYWAY)
    done("promote", "shop")
    with asked(folder) as client:
        given = client.post("/v1/predict", json={"keys": [*BIKES, "p3"]}).json()
        assert (given["model_version"], given["world"]) == (4, "closed")
        assert [one["class"] for one in given["predictions"][:5]] == ["e-bikes"] * 5
        refused = client.get("/v1/explain", params={"node": "p3"})
        assert refused.status_code >= 400
        assert "cannot explain" in refused.text


def test_changes_that_it_cannot_learn_incrementally_fit_it_again(folder: Path) -> None:
    done(*ADD, *ANYWAY)
    told = done("label", "shop", "--class", "hats", "--nodes", "p121", *ANYWAY)
    assert "hag-meta cannot learn this change incrementally" in told
    with Store.open(folder) as store:
        store.rename("hats", "caps")
        version = store.undo(2)
        state = store.state(version.number)
        assert set(state.model.classes_) == {"caps", "shoes", "tents"}
        # The model is that of the labels that are left, fitted from the start.
        fresh = state.refitted()
        rows = state.graph.rows
        np.testing.assert_allclose(
            state.model.score_rows(state.graph, rows),
            fresh.model.score_rows(fresh.graph, rows),
            atol=1e-5,
        )
