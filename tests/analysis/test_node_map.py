"""A map of nodes, and counts of predictions by class."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nodegraft.analysis import node_map as room
from nodegraft.analysis.drift import count_predictions
from nodegraft.analysis.node_map import node_map, with_more
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import NotSupportedError
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.service.served import make_of_tables
from tests.store.small import made


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> State:
    store, _ = made(tmp_path_factory.mktemp("map") / "shop", method="graft")
    with store:
        return store.state()


def test_nodes_of_a_class_lie_close_together(state: State) -> None:
    found = node_map(state)
    assert found.rows.tolist() == state.graph.rows.tolist()
    assert (found.places.min(), found.places.max()) == (0.0, 1.0)
    classes = state.predict(found.rows).classes
    gaps = np.linalg.norm(found.places[:, None] - found.places[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert (classes[gaps.argmin(axis=1)] == classes).mean() > 0.6


def test_a_map_is_the_same_again_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "NODES", 50)
    made(tmp_path / "shop", method="graft")[0].close()
    drawn = []
    for _ in range(2):
        with Store.open(tmp_path / "shop") as store:
            drawn.append(node_map(store.state()).places)
        shutil.rmtree(tmp_path / "shop" / "derived")
    assert drawn[0].shape == (50, 2)
    assert np.array_equal(drawn[0], drawn[1])


def test_the_next_process_finds_the_map_also_when_classes_have_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_of_tables(tmp_path / "shop")
    with Store.open(tmp_path / "shop") as store:
        first = node_map(store.state())
        store.add(
            {"caps": ["hats8", "hats9"]}, intent=Intent(override="a small store knows little")
        )
        store.grow(None, pa.table({"source": ["hats1"], "target": ["shoes9"]}))

    def again_worked_out(vectors: object) -> None:
        raise AssertionError("worked out again")

    monkeypatch.setattr(room, "_flattened", again_worked_out)
    with Store.open(tmp_path / "shop") as again:
        found = node_map(again.state(2))
        assert np.array_equal(found.rows, first.rows)
        assert np.array_equal(found.places, first.places)
        # Another graph has another map.
        with pytest.raises(AssertionError, match="worked out again"):
            node_map(again.state(3))


def test_every_class_is_on_the_map(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "NODES", 60)
    monkeypatch.setattr(room, "LABELLED", 8)
    fair = node_map(state)
    found = with_more(state, fair)
    assert found.rows[:60].tolist() == fair.rows.tolist()
    assert found.rows.size == np.unique(found.rows).size <= 68
    on_it = set(state.graph.keys_of(found.rows))
    assert all(set(one.training[:2]) <= on_it for one in state.labels.values())
    assert found.places.shape == (found.rows.size, 2)
    assert with_more(state, found) is found


@pytest.mark.parametrize("count", [2, 5, 11])
def test_few_nodes_have_a_map_too(
    count: int, state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(room, "NODES", count)
    places = node_map(state).places
    assert places.shape == (count, 2)
    assert np.isfinite(places).all()


def test_a_method_without_vectors_has_no_map(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "shop", method="label-propagation")
    with store, pytest.raises(NotSupportedError, match="embed nodes"):
        node_map(store.state())


@pytest.mark.parametrize(("method", "can_abstain"), [("graft", True), ("sgc-mean", False)])
def test_every_node_is_taken_for_one_class(method: str, can_abstain: bool, tmp_path: Path) -> None:
    store, _ = made(tmp_path / "shop", method=method)
    with store:
        found = count_predictions(store.state())
    assert found.sampled == sum(found.predicted.values()) == 240
    assert (found.uncertain is not None) == can_abstain
    for name, count in (found.uncertain or {}).items():
        assert 0 <= count <= found.predicted[name]
