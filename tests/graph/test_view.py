from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import (
    DataError,
    GraphTooLargeError,
    HiddenNodeError,
    UnknownNodeError,
)
from nodegraft.graph import view as view_module
from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.operator import Operator
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.propagation.set_mass import TOLERANCE
from nodegraft.graph.view import GraphView
from tests.graph.reference import (
    Dense,
    dense,
    joined_in,
    normalised,
    random_graph,
    random_kinds,
    typed_graph,
    weights_in,
    within,
)

VISIBLE = np.arange(1, 40, 2)
GRAPH = random_graph()
ASKED = np.array([3, 9, 17, 39])

both = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])


def part(sparse: bool = False) -> tuple[GraphView, Graph]:
    """What is visible, as a view and as a graph that never held anything else."""
    graph = random_graph(sparse)
    inside = joined_in(graph)[np.ix_(VISIBLE, VISIBLE)]
    edges = [(int(VISIBLE[a]), int(VISIBLE[b])) for a, b in zip(*np.nonzero(inside), strict=True)]
    return graph.view(VISIBLE), Graph(VISIBLE, graph.features(VISIBLE), edges)


def numbers(operator: Operator) -> Dense:
    return dense(operator.forward_matrix.to_dense())


@pytest.mark.parametrize(
    "ask",
    [
        lambda view, rows: view.positions(rows),
        lambda view, rows: view.rows_of(rows.tolist()),
        lambda view, rows: view.degrees(rows),
        lambda view, rows: view.neighbours(rows),
        lambda view, rows: view.features(rows),
        lambda view, rows: view.neighbourhood(rows, 2),
        lambda view, rows: view.propagated(rows, 2),
        lambda view, rows: view.weighted_neighbours(rows),
        lambda view, rows: view.linked(rows, "edges"),
    ],
)
@pytest.mark.parametrize("hidden", [[0], [1, 2], [1, 38]])
def test_hidden_nodes_are_refused(
    ask: Callable[[GraphView, Any], object], hidden: list[int]
) -> None:
    view = GRAPH.view(VISIBLE)
    with pytest.raises(HiddenNodeError, match=f"1 of {len(hidden)} nodes"):
        ask(view, np.array(hidden))
    ask(view, ASKED)


def test_unknown_nodes_are_refused() -> None:
    for row in (-1, 40):
        with pytest.raises(HiddenNodeError):
            GRAPH.view(VISIBLE).positions(np.array([row]))
        with pytest.raises(UnknownNodeError):
            GRAPH.positions(np.array([row]))
        with pytest.raises(UnknownNodeError):
            GRAPH.view(VISIBLE).rows_of([row])


def test_a_view_of_nothing_hides_everything() -> None:
    view = GRAPH.view(np.zeros(0, dtype=np.int64))
    assert (view.num_nodes, view.num_edges) == (0, 0)
    with pytest.raises(HiddenNodeError):
        view.positions(np.array([0]))


@pytest.mark.parametrize("order", [VISIBLE[::-1], np.concatenate((VISIBLE, VISIBLE))])
def test_visible_rows_are_a_set(order: IntArray) -> None:
    view = GRAPH.view(order)
    assert view.rows.tolist() == VISIBLE.tolist()
    assert view.num_edges == part()[0].num_edges


def test_degrees_and_neighbours_are_those_of_the_visible_part_alone() -> None:
    view, alone = part()
    assert (view.num_nodes, view.num_edges) == (alone.num_nodes, alone.num_edges)
    rows = alone.rows_of(ASKED)
    assert view.degrees(ASKED).tolist() == alone.degrees(rows).tolist()
    assert view.degrees(VISIBLE).sum() < GRAPH.degrees(VISIBLE).sum()
    counts, neighbours = view.neighbours(ASKED)
    expected_counts, expected = alone.neighbours(rows)
    assert counts.tolist() == expected_counts.tolist()
    assert neighbours.tolist() == alone.keys_of(expected)


@both
def test_normalisation_and_propagation_are_those_of_the_visible_part_alone(sparse: bool) -> None:
    view, alone = part(sparse)
    seen, expected = view.full_batch(1), alone.full_batch(1)
    assert np.array_equal(numbers(seen.hops[0]), numbers(expected.hops[0]))
    assert np.array_equal(numbers(seen.features), numbers(expected.features))
    layers = view.propagated(ASKED, 2)
    for layer, truth in zip(layers, alone.propagated(alone.rows_of(ASKED), 2), strict=True):
        assert np.array_equal(dense(layer), dense(truth))


@both
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_a_neighbourhood_is_what_is_needed_and_nothing_beyond(sparse: bool, hops: int) -> None:
    view, alone = part(sparse)
    found = view.neighbourhood(ASKED, hops)
    truth, rows = joined_in(alone), alone.rows_of(ASKED)
    reached = [within(truth, rows, hop) for hop in range(hops, -1, -1)]
    assert reached[0].size < alone.num_nodes
    assert [hop.shape for hop in found.hops] == [
        (inner.size, outer.size) for outer, inner in pairwise(reached)
    ]
    assert np.array_equal(numbers(found.features), dense(alone.features(reached[0])))
    spread = normalised(truth)
    for hop, (outer, inner) in zip(found.hops, pairwise(reached), strict=True):
        expected = spread[np.ix_(inner, outer)]
        np.testing.assert_allclose(numbers(hop), expected, atol=1e-7)


def test_a_node_keeps_its_row_from_view_to_view() -> None:
    views = [GRAPH.view(VISIBLE), GRAPH.view(np.arange(3, 40)), GRAPH]
    features = [dense(view.features(ASKED)) for view in views]
    assert np.array_equal(features[0], features[1])
    assert np.array_equal(features[0], features[2])
    assert [view.rows_of([9]).tolist() for view in views] == [[9]] * 3
    assert [view.positions(np.array([9])).tolist() for view in views] == [[4], [6], [9]]


WORTH = {"plain": 0.5, "heavy": 2.0, "told": 0.25}


def as_weighed(rows: IntArray, worth: dict[str, float]) -> Graph:
    """The visible part of the typed graph, its kinds summed up into weights beforehand."""
    kinds = random_kinds()
    total = np.zeros((40, 40))
    for name, weight in worth.items():
        total += weight * weights_in(kinds[name])
    inside = np.triu(total[np.ix_(rows, rows)])
    source, target = np.nonzero(inside)
    pairs = np.stack((rows[source], rows[target]), axis=1)
    return Graph(rows, typed_graph().features(rows), Relation(pairs, inside[source, target]))


@pytest.mark.parametrize("worth", [WORTH, WORTH | {"heavy": 0.0}], ids=["all", "one for nothing"])
@pytest.mark.parametrize("rows", [np.arange(40), VISIBLE], ids=["graph", "view"])
def test_weighing_is_a_graph_with_these_weights(rows: IntArray, worth: dict[str, float]) -> None:
    """Of a view the visible part alone: hidden nodes count nowhere."""
    graph = typed_graph()
    view = (graph if rows.size == 40 else graph.view(rows)).weighing(worth)
    alone = as_weighed(rows, worth)
    at = alone.rows_of(ASKED)
    assert (view.num_nodes, view.num_edges) == (alone.num_nodes, alone.num_edges)
    assert view.degrees(ASKED).tolist() == alone.degrees(at).tolist()
    np.testing.assert_allclose(
        numbers(view.full_batch(1).hops[0]), numbers(alone.full_batch(1).hops[0]), atol=1e-6
    )
    for one, truth in zip(view.propagated(ASKED, 2), alone.propagated(at, 2), strict=True):
        np.testing.assert_allclose(dense(one), dense(truth), atol=1e-5)
    heat = view.diffused([ASKED[:2]], ASKED, [2.0, 8.0])
    truth = alone.diffused([at[:2]], at, [2.0, 8.0])
    np.testing.assert_allclose(heat, truth, atol=1e-5)


def test_degree_roots_are_those_of_normalisation() -> None:
    for view in (GRAPH.view(VISIBLE), GRAPH.view(VISIBLE).with_full_degrees()):
        expected = 1.0 / view._adjacency.normalised.diagonal()
        np.testing.assert_allclose(view.degree_roots(VISIBLE) ** 2, expected, rtol=1e-6)
        with pytest.raises(HiddenNodeError):
            view.degree_roots([0])
    weighted = typed_graph().view(VISIBLE).weighing(WORTH)
    kinds = random_kinds().items()
    sums = np.sum([WORTH[name] * weights_in(edges) for name, edges in kinds], axis=0)
    expected = np.sqrt(sums[np.ix_(VISIBLE, VISIBLE)].sum(axis=1) + 1.0)
    np.testing.assert_allclose(weighted.degree_roots(VISIBLE), expected, rtol=1e-6)


def test_weights_of_kinds_change_what_is_seen() -> None:
    graph = typed_graph()
    found = [
        dense(graph.weighing(worth).propagated(ASKED, 1)[1])
        for worth in (WORTH, WORTH | {"told": 1.0}, dict.fromkeys(WORTH, 1.0))
    ]
    assert not np.allclose(found[0], found[1])
    # An edge of two kinds counts twice in a sum, and once where kinds are merged.
    assert not np.allclose(found[2], dense(graph.propagated(ASKED, 1)[1]))


def test_one_kind_that_counts_once_needs_no_weighing() -> None:
    view = GRAPH.view(VISIBLE)
    assert view.weighing({"edges": 1.0}) is view
    heavier = view.weighing({"edges": 2.0})
    assert view.weighing({"edges": 2.0}) is heavier is not view
    assert heavier.weighing({"edges": 2.0}) is heavier
    back = heavier.weighing({"edges": 1.0}).propagated(ASKED, 1)[1]
    assert np.array_equal(dense(back), dense(view.propagated(ASKED, 1)[1]))
    assert not np.allclose(dense(back), dense(heavier.propagated(ASKED, 1)[1]))


def test_full_degrees_count_the_weights_of_all() -> None:
    view = typed_graph().view(VISIBLE).weighing(WORTH).with_full_degrees()
    everyone = as_weighed(np.arange(40), WORTH)
    wanted = dense(everyone._adjacency.normalised)[np.ix_(VISIBLE, VISIBLE)]
    np.testing.assert_allclose(numbers(view.full_batch(1).hops[0]), wanted, atol=1e-6)


@pytest.mark.parametrize("name", ["plain", "heavy", "told"])
@pytest.mark.parametrize("rows", [np.arange(40), VISIBLE], ids=["graph", "view"])
def test_edges_of_a_kind_are_those_that_are_visible(name: str, rows: IntArray) -> None:
    kind = weights_in(random_kinds()[name])
    source, target, weights = typed_graph().view(rows).edges_of(name)
    hidden = np.setdiff1d(np.arange(40), rows)
    kind[hidden], kind[:, hidden] = 0, 0
    assert [source.tolist(), target.tolist()] == [one.tolist() for one in np.nonzero(np.triu(kind))]
    if name == "plain":
        assert weights is None
    else:
        assert weights is not None
        assert weights.tolist() == kind[source, target].tolist()


@pytest.mark.parametrize("name", ["plain", "heavy", "told"])
@pytest.mark.parametrize("direction", [None, OUT, IN])
@pytest.mark.parametrize("rows", [np.arange(40), VISIBLE], ids=["graph", "view"])
@both
def test_linked_nodes_are_the_visible_ones_of_one_type_in_true_directions(
    name: str, direction: np.uint8 | None, rows: IntArray, sparse: bool
) -> None:
    kind = random_kinds()[name]
    expected = weights_in(kind)
    if direction is not None:
        expected = expected * dense(kind.along(direction)) if name == "told" else 0 * expected
    graph = typed_graph(sparse)
    near = graph.view(rows).linked(ASKED, name, direction)
    columns = rows[near.rings[0]]
    assert rows[near.rings[1]].tolist() == ASKED.tolist()
    hidden = np.setdiff1d(np.arange(40), rows)
    expected[:, hidden] = 0
    assert columns.tolist() == np.flatnonzero(expected[ASKED].any(axis=0)).tolist()
    np.testing.assert_array_equal(numbers(near.hops[0]), expected[np.ix_(ASKED, columns)])
    np.testing.assert_array_equal(dense(near.features.matrix), dense(graph.features(columns)))


def test_an_edge_leads_out_of_its_source_whichever_row_is_lower() -> None:
    graph = Graph(
        list("abc"), np.eye(3), {"head": Relation([("c", "a"), ("a", "b")], directed=True)}
    )
    sums = [
        dense(near.hops[0].matrix @ near.features.matrix).tolist()
        for direction in (OUT, IN)
        for near in [graph.linked(graph.rows, "head", direction)]
    ]
    assert sums[0] == [[0, 1, 0], [0, 0, 0], [1, 0, 0]]
    assert sums[1] == [[0, 0, 1], [1, 0, 0], [0, 0, 0]]


def test_weighted_neighbours_are_those_of_a_weighed_view() -> None:
    view = typed_graph().view(VISIBLE).weighing(WORTH)
    counts, found, weights = view.weighted_neighbours(ASKED)
    assert [counts.tolist(), found.tolist()] == [one.tolist() for one in view.neighbours(ASKED)]
    total = np.sum([worth * weights_in(random_kinds()[name]) for name, worth in WORTH.items()], 0)
    assert weights is not None
    np.testing.assert_allclose(weights, total[np.repeat(ASKED, counts), found], rtol=1e-6)
    assert GRAPH.view(VISIBLE).weighted_neighbours(ASKED)[2] is None


def test_kinds_are_known_by_name() -> None:
    view = typed_graph().view(VISIBLE)
    assert view.relations == ("plain", "heavy", "told")
    assert [view.is_directed(name) for name in view.relations] == [False, False, True]
    for ask in (view.edges_of, view.is_directed):
        with pytest.raises(DataError, match="no edge type 'other'; there are plain, heavy, told"):
            ask("other")


def by_key(graph: GraphView, count: int, without: list[int]) -> list[Any]:
    return sorted(graph.keys_of(graph.sampled(count, graph.rows_of(without))))


def test_a_sample_depends_on_keys_alone() -> None:
    keys = np.random.default_rng(0).permutation(40)
    one, other = Graph(range(40), np.eye(40)), Graph(keys, np.eye(40))
    for count, without in ((5, []), (5, [3, 8, 9]), (40, [0]), (0, [])):
        found = by_key(one, count, without)
        assert found == by_key(other, count, without)
        assert len(found) == min(count, 40 - len(without))
        assert not set(found) & set(without)
    assert set(by_key(one, 5, [])) < set(by_key(one, 9, []))
    assert by_key(one, 5, []) != list(range(5))
    rows = other.sampled(7, np.array([2]))
    assert (np.diff(rows) > 0).all()


def test_only_visible_nodes_are_sampled() -> None:
    view = GRAPH.view(VISIBLE)
    assert view.sampled(40, VISIBLE[:3]).tolist() == VISIBLE[3:].tolist()
    # The smallest hashes among the visible are those of the whole, hidden ones left out.
    every = [GRAPH.sampled(count, VISIBLE[:0]) for count in range(1, 41)]
    order = [set(now) - set(before) for before, now in pairwise([VISIBLE[:0], *every])]
    seen = [row for added in order for row in added if row in VISIBLE]
    assert set(view.sampled(6, VISIBLE[:0])) == set(seen[:6])


@pytest.mark.parametrize("count", [1, 3, 40])
def test_nearest_rows_have_the_largest_shares(count: int) -> None:
    view = GRAPH.view(VISIBLE)
    for start in (ASKED[:1], ASKED[1:3], ASKED[3:]):
        [found] = view.nearest([start], count, [2.0])
        share = view.diffused([start], view.rows, [2.0])[0, :, 0]
        others = [row for row in view.rows[share > TOLERANCE].tolist() if row not in start]
        logs = dict(zip(view.rows.tolist(), np.log(np.maximum(share, 1e-30)).round(3), strict=True))
        assert found.size == min(count, len(others))
        assert (np.diff(found) > 0).all()
        assert set(found) <= set(others)
        left = [logs[row] for row in others if row not in found]
        assert not left or max(left) <= min(logs[row] for row in found.tolist()) + 0.002


def test_of_rows_as_near_keys_decide() -> None:
    spokes, order = [(0, leaf) for leaf in range(1, 20)], np.random.default_rng(1).permutation(20)
    one, other = Graph(range(20), np.eye(20), spokes), Graph(order, np.eye(20), spokes)
    kept = [
        sorted(graph.keys_of(graph.nearest([graph.rows_of([0])], 4, [2.0])[0]))
        for graph in (one, other)
    ]
    assert kept[0] == kept[1] != [1, 2, 3, 4]
    assert len(kept[0]) == 4


def test_a_graph_that_does_not_fit_is_not_trained_on_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph = random_graph()
    monkeypatch.setattr(view_module, "available_bytes", lambda: 1000)
    with pytest.raises(GraphTooLargeError, match=r"would take about .* GB .*batch=1024"):
        graph.full_batch(2)
    assert graph.propagated(np.array([0]), 1)[1].shape == (1, 7)
    monkeypatch.setattr(view_module, "available_bytes", lambda: None)
    assert graph.full_batch(2).features.shape == (40, 7)
