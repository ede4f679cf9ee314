"""After a small growth a store keeps the heat of old nodes, in every process; a refit renews it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.methods.graft import Graft
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.read import read_graph

NODES, CLASSES, NEW = 3000, 6, 4
GRAPH, MEMBERS = BlockModel(nodes=NODES, classes=CLASSES, signal=0.5, seed=0).draw()


def nodes_table(keys: Sequence[Key], rows: IntArray) -> pa.Table:
    values = np.asarray(GRAPH.features(rows), dtype=np.float32)
    features = pa.FixedSizeListArray.from_arrays(values.ravel(), GRAPH.num_features)
    return pa.table({"key": keys, "features": features})


def tables() -> tuple[pa.Table, pa.Table]:
    one, other = GRAPH.edges()
    edges = pa.table({"source": GRAPH.keys_of(one), "target": GRAPH.keys_of(other)})
    return nodes_table(GRAPH.keys_of(GRAPH.rows), GRAPH.rows), edges


def in_memory(folder: Path) -> Graph:
    return read_graph(*tables(), key="key", features="features")


def on_disk(folder: Path) -> Graph:
    return build_graph(*tables(), folder / "graph", key="key", features="features").graph


FORMS = {"memory": in_memory, "disk": on_disk}


@pytest.fixture(params=FORMS.values(), ids=list(FORMS))
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    form: Callable[[Path], Graph] = request.param
    keys = {name: GRAPH.keys_of(rows[:20]) for name, rows in MEMBERS.items()}
    return Store.init(tmp_path / "store", form(tmp_path), keys, tables={"key": "key"})


def grow(store: Store) -> int:
    """By nodes with two edges each, to the first nodes; the number of the version."""
    first = 10 * NODES + len(store.history())
    keys = [first + 1000 * number for number in range(NEW)]
    ends = [(key, old) for key in keys for old in GRAPH.keys_of(GRAPH.rows[:2])]
    edges = pa.table({"source": [one for one, _ in ends], "target": [two for _, two in ends]})
    return store.grow(nodes_table(keys, GRAPH.rows[:NEW]), edges).number


def scores(store: Store, version: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    state = store.state(version)
    return state.model.score_rows(state.graph, state.graph.rows[::7])


def test_heat_is_kept_and_the_next_process_finds_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.state()
    assert isinstance(before.model, Graft)
    assert before.model.times_.size
    first = scores(store, 1)
    version = grow(store)
    with monkeypatch.context() as without_a_pass:
        without_a_pass.setattr(Diffusion, "_pass", None)
        after = scores(store, version)
        # A new process reads what the first version has left.
        np.testing.assert_allclose(
            scores(Store.open(store.place), version), after, rtol=0, atol=1e-6
        )
    assert np.abs(after[: len(first)] - first).max() > 0.0
    graph = store.state(version).graph
    assert not graph.is_settled
    settled = before.model.score_rows(graph.settled(), graph.rows[::7])
    assert (settled.argmax(axis=1) == after.argmax(axis=1)).mean() > 0.99
    assert np.abs(settled - after).max() > 1e-6


def test_a_refit_computes_it_again(store: Store) -> None:
    version = grow(store)
    assert not store.state(version).graph.is_settled
    refit = store.refit(intent=Intent(override="a test"))
    assert refit.graph != store.history()[version - 1].graph
    for opened in (store, Store.open(store.place)):
        assert opened.state(refit.number).graph.is_settled
    np.testing.assert_allclose(
        scores(Store.open(store.place), refit.number),
        scores(store, refit.number),
        rtol=0,
        atol=1e-6,
    )
    # And the next growth starts from there.
    assert not store.state(grow(store)).graph.is_settled


def test_pruning_keeps_the_heat_that_a_later_graph_needs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores(store, 1)
    grown = grow(store)
    store.promote(grown)
    after = scores(store, grown)
    store.prune(1)
    monkeypatch.setattr(Diffusion, "_pass", None)
    np.testing.assert_allclose(scores(Store.open(store.place), grown), after, rtol=0, atol=1e-6)
