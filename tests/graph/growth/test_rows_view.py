"""Rows beside a graph see what they would see if the graph had grown by each alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth import rows_view as module
from nodegraft.graph.growth.rows_view import RowsView
from nodegraft.tables.disk.save import save_mapped
from nodegraft.tables.new_rows import rows_view

ROWS: list[dict[str, Any]] = [
    {
        "features": [1.0, 0.0, 2.0],
        "edges": [
            {"type": "cites", "target": 0},
            {"type": "cites", "source": 3},
            {"type": "like", "target": 0, "weight": 2.5},
            {"type": "like", "target": 1, "weight": 0.5},
        ],
    },
    {"features": [0.0, 3.0, 0.0], "edges": [{"type": "like", "target": 0}]},
    {"features": [0.0, 1.0, 1.0]},
]


def small_graph(sparse: bool = False) -> Graph:
    draws = np.random.default_rng(0)
    features = draws.random((12, 3)).astype(np.float32)
    pairs = [(one, int(draws.integers(12))) for one in range(12) for _ in range(2)]
    like = pairs[:14], draws.random(14) + 0.1
    return Graph(
        list(range(12)),
        csr_array(features) if sparse else features,
        {"cites": Relation(pairs[10:], directed=True), "like": Relation(like[0], like[1])},
    )


def grown_by(graph: Graph, row: Mapping[str, Any], key: int = 99) -> Graph:
    cites, like = [], []
    for edge in row.get("edges", []):
        if edge["type"] == "like":
            like.append(((key, edge["target"]), edge.get("weight", 1.0)))
        else:
            cites.append((key, edge["target"]) if "target" in edge else (edge["source"], key))
    edges: dict[str, Relation] = {}
    if cites:
        edges["cites"] = Relation(cites)
    if like:
        edges["like"] = Relation([pair for pair, _ in like], [weight for _, weight in like])
    return graph.grow([key], np.array([row["features"]]), edges)


def dense(layers: list[Any]) -> NDArray[np.float64]:
    return np.hstack([one.toarray() if hasattr(one, "toarray") else one for one in layers])


@pytest.mark.parametrize("kind", ["memory", "sparse", "disk", "grown"])
@pytest.mark.parametrize("weights", [None, {"cites": 0.5, "like": 2.0}])
def test_two_hops_are_those_after_growth(
    kind: str, weights: dict[str, float] | None, tmp_path: Path
) -> None:
    graph = small_graph(kind == "sparse")
    if kind == "disk":
        graph = save_mapped(graph, tmp_path / "graph")
    if kind == "grown":
        graph = graph.grow([50], np.ones((1, 3)), {"like": Relation([(50, 0)], [1.0])})
    view = rows_view(graph, ROWS)
    seen = view if weights is None else view.weighing(weights)
    near = seen.neighbourhood(view.new_rows, 2)
    twice = near.hops[1].matrix @ (near.hops[0].matrix @ dense([near.features.matrix]))
    for place, row in enumerate(ROWS):
        larger = grown_by(graph, row)
        after = larger if weights is None else larger.weighing(weights)
        new = np.array([graph.num_nodes])
        wanted = dense(after.propagated(new, 2))
        assert dense(seen.propagated(view.new_rows[[place]], 2)) == pytest.approx(wanted, abs=1e-5)
        assert twice[place] == pytest.approx(wanted[0, -3:], abs=1e-5)
        for direction in (np.uint8(1), np.uint8(2)):
            found = view.directed(view.new_rows[[place]], direction).hops[0].matrix.sum()
            same = larger.directed(new, direction).hops[0].matrix.sum()
            assert found == same
        counts, weights_seen = seen.weighted_neighbours(view.new_rows[[place]])[::2]
        assert counts == after.weighted_neighbours(new)[0]
        assert np.sort(np.asarray(weights_seen)) == pytest.approx(
            np.sort(np.asarray(after.weighted_neighbours(new)[2]))
        )


def test_stored_nodes_do_not_see_the_rows() -> None:
    graph = small_graph()
    before = [one.copy() for one in graph.propagated(graph.rows, 2)]
    view = rows_view(graph, ROWS)
    for one, other in zip(view.propagated(graph.rows, 2), before, strict=True):
        assert np.array_equal(one, other)
    mixed = np.append(graph.rows[:3], view.new_rows)
    assert np.array_equal(view.propagated(mixed, 2)[2][:3], before[2][:3])
    assert graph.num_nodes == 12
    assert view.neighbours([0])[0] == graph.neighbours([0])[0]


def test_neighbours_with_many_edges_have_no_twin(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = small_graph()
    exact = rows_view(graph, ROWS[:1])
    assert exact._cache.spreading.num_nodes == 13 + 3
    monkeypatch.setattr(module, "TWIN_DEGREE", 0)
    plain = rows_view(graph, ROWS[:1])
    assert plain._cache.spreading.num_nodes == 13
    assert dense(plain.propagated(plain.new_rows, 0)) == pytest.approx(
        dense(exact.propagated(exact.new_rows, 0))
    )


def test_the_mean_of_neighbours_counts_weights() -> None:
    view = rows_view(small_graph(), ROWS).weighing({"cites": 1.0, "like": 2.0})
    assert isinstance(view, RowsView)
    means, nodes = view.neighbour_means()
    assert nodes.tolist() == [0, 1, 3]
    assert means.toarray()[0] == pytest.approx(np.array([6.0, 1.0, 1.0]) / 8.0)
    assert means.toarray()[1:].tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]


def test_heat_is_that_after_growth_where_neighbours_had_no_edges() -> None:
    ring, alone, other = 400, 400, 401
    graph = Graph(
        list(range(402)), np.ones((402, 1)), [(one, (one + 1) % ring) for one in range(ring)]
    )
    starts, times = [np.array([0]), np.array([7])], [2.0]
    before = graph.diffusion(starts, times)
    for neighbours in ([3, alone], [3, 5, alone, other], [alone], []):
        row = {"features": [1.0], "edges": [{"target": target} for target in neighbours]}
        view = rows_view(graph, [row])
        found = before.with_rows(*view.neighbour_means()).at(view.new_rows)
        grown = graph.grow([999], np.ones((1, 1)), [(999, target) for target in neighbours])
        wanted = grown.diffusion(starts, times).at(np.array([402]))
        assert found == pytest.approx(wanted, abs=1e-7)
        assert bool(found.any()) == (3 in neighbours)
