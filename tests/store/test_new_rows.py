"""A store predicts rows that are not in its graph, and keeps nothing of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.store.store import Store
from tests.service.served import make_of_tables

ROW: dict[str, Any] = {
    "text": "felt brim wool secretword",
    "price": 4.0,
    "edges": [{"target": "hats3"}, {"target": "hats8"}],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rows") / "store"
    make_of_tables(place)
    return place


def test_a_row_is_predicted_as_after_growth_by_it(place: Path) -> None:
    with Store.open(place) as store:
        found = store.predict(rows=[ROW, {**ROW, "key": "mine", "edges": []}], top=2)
        assert found.nodes == ["row 1", "mine"]
        assert found.reasons == ["prediction"] * 2
        assert found.labels == [None, None]
        state = store.state()
        recipe: Any = state.graph.recipe
        grown = state.graph.grow(
            ["new"],
            recipe.transform(pa.table({"text": [ROW["text"]], "price": [4.0]})),
            [("new", edge["target"]) for edge in ROW["edges"]],
        )
        after = state.on(grown).model.predict_table(grown, ["new"])
        assert found.predictions[:1] == after.predictions == ["hats"]
        assert found.probability[0] == pytest.approx(after.probability[0], abs=0.1)


def test_nothing_of_a_row_is_kept(place: Path) -> None:
    def files() -> dict[Path, bytes]:
        # SQLite's own files beside the database come and go with connections.
        found = (
            file for file in place.rglob("*") if file.is_file() and "store.db-" not in file.name
        )
        return {file: file.read_bytes() for file in found}

    with Store.open(place) as store:
        keys = store.graph().keys_of(store.graph().rows)
        before = store.predict().probability
        history, there = len(store.history()), files()
        store.predict(rows=[ROW], coverage=0.8)
        assert np.array_equal(store.predict().probability, before)
        assert (len(store.history()), store.graph().keys_of(store.graph().rows)) == (history, keys)
    now = files()
    # Calibration of sets may cache what it derives from labels; no file has words of the row.
    assert not any(b"secretword" in content for content in now.values())
    kept = {file for file in there if "derived" not in file.parts}
    assert {file: now[file] for file in kept} == {file: there[file] for file in kept}


def test_rows_are_alone_and_sets_are_those_of_the_version(place: Path) -> None:
    with Store.open(place) as store:
        together = store.predict(rows=[ROW, {**ROW, "text": "sole lace"}], coverage=0.8)
        alone = store.predict(rows=[ROW], coverage=0.8)
        assert together.probability[0] == pytest.approx(alone.probability[0], abs=1e-6)
        assert together.sets is not None
        assert together.sets[:1] == alone.sets
        assert alone.sets_note == store.predict(["hats1"], coverage=0.8).sets_note
        assert alone.to_arrow().column("node").to_pylist() == ["row 1"]


def test_nodes_and_rows_are_one_or_the_other(place: Path) -> None:
    with Store.open(place) as store:
        with pytest.raises(ParameterError, match="not both"):
            store.predict(["hats1"], rows=[ROW])
        with pytest.raises(ParameterError, match="no effect on rows"):
            store.predict(rows=[ROW], missing="skip")
        with pytest.raises(ParameterError, match="no effect on rows"):
            store.predict(rows=[ROW], ignore_labels=True)
        model, graph = store.state().model, store.graph()
    assert model.predict(graph, rows=[ROW]) == ["hats"]
    with pytest.raises(ParameterError, match="nodes=…"):
        model.predict(graph)
