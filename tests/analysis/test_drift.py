from dataclasses import replace

import numpy as np
import pytest

from nodegraft.analysis.drift import shifts
from nodegraft.analysis.labels.labels import StoreLabels
from nodegraft.analysis.snapshot import State, first_state
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph

MODEL = BlockModel(nodes=1200, classes=6, features=16, signal=1.5)


@pytest.fixture(scope="module")
def state() -> State:
    graph, labels = MODEL.draw()
    taught = {name: graph.keys_of(rows)[:20] for name, rows in labels.items()}
    return first_state(graph, StoreLabels().added(taught), "graft", {})


def resampled(state: State, seed: int) -> State:
    """As many nodes, drawn with the labelled ones among them."""
    draws, graph = np.random.default_rng(seed), state.graph
    labelled = graph.rows_of(list(state.labels.owners()))
    others = np.setdiff1d(graph.rows, labelled)
    rows = np.sort(np.concatenate((labelled, draws.choice(others, 900, replace=False))))
    source, target = graph.edges()
    kept = np.isin(source, rows) & np.isin(target, rows)
    keys = graph.key_array_of(graph.rows)
    edges = np.column_stack((keys[source[kept]], keys[target[kept]]))
    return replace(state, graph=Graph(keys[rows], graph.features(rows), edges.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_a_resampled_graph_is_no_drift(seed: int, state: State) -> None:
    one, other = resampled(state, seed), resampled(state, seed + 100)
    assert [shift.measure for shift in shifts(one, other) if shift.alarm] == []


def test_planted_shifts_are_told_by_what_has_moved(state: State) -> None:
    graph = state.graph
    features = np.asarray(graph.features(graph.rows)).copy()
    strange = np.random.default_rng(0).random(graph.num_nodes) < 0.4
    features[strange] = -features[strange]
    told = {
        one.measure
        for one in shifts(state, replace(state, graph=graph.with_features(features)))
        if one.alarm
    }
    assert "similarity to average features" in told
    fewer = graph.keeping_edges(lambda source, target: (source + target) % 3 == 0)
    told = {one.measure for one in shifts(state, replace(state, graph=fewer)) if one.alarm}
    assert "edges per node" in told
