from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import HiddenNodeError, UnknownNodeError
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.algebra.operator import Operator
from nodegraft.graph.graph import Graph
from nodegraft.graph.view import GraphView
from tests.graph.reference import Dense, dense, joined_in, normalised, random_graph, within

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
