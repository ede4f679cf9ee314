from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import IN, OUT, Weights
from nodegraft.graph.edges.matrix import IntArray
from tests.graph.reference import (
    Dense,
    dense,
    joined,
    leading,
    normalised,
    random_edges,
    stored,
    weighed,
    weights_in,
    within,
)

NODES = 40
SOURCE, TARGET = random_edges(NODES)
TRUTH = joined(SOURCE, TARGET, NODES)
SOME = np.array([0, 3, 4, 17, 30, 39])


def drawn() -> Adjacency:
    return Adjacency.from_edges(SOURCE, TARGET, NODES)


def beyond_32_bits() -> Adjacency:
    """The same graph with the indices that more than 2**31 entries would need."""
    narrow = drawn()
    return Adjacency(narrow.indptr.astype(np.int64), narrow.indices.astype(np.int64))


either = pytest.mark.parametrize("adjacency", [drawn(), beyond_32_bits()], ids=["int32", "int64"])


def test_edges_are_merged_sorted_and_symmetric() -> None:
    adjacency = drawn()
    assert np.array_equal(stored(adjacency), TRUTH)
    assert adjacency.num_edges == TRUTH.sum() // 2 < SOURCE.size
    assert (SOURCE == TARGET).any()


@pytest.mark.parametrize("given", [np.int32, np.int64, np.uint32])
def test_indices_are_narrow_whatever_is_given(given: type[np.integer]) -> None:
    adjacency = Adjacency.from_edges(SOURCE.astype(given), TARGET.astype(given), NODES)
    assert adjacency.indices.dtype == adjacency.indptr.dtype == np.int32
    assert adjacency.normalised.indices.dtype == np.int32
    assert adjacency.hop(SOME)[0].indices.dtype == np.int32
    assert adjacency.induced(SOME).indices.dtype == np.int32


def test_ends_that_do_not_exist_are_refused() -> None:
    for end in (-1, NODES, 2**40):
        with pytest.raises(ValueError, match="ind"):
            Adjacency.from_edges(np.array([0]), np.array([end]), NODES)


@either
def test_degrees_and_neighbours(adjacency: Adjacency) -> None:
    unsorted = np.array([17, 3, 3, 39])
    counts, neighbours = adjacency.neighbours(unsorted)
    assert counts.tolist() == adjacency.degrees(unsorted).tolist()
    assert counts.tolist() == TRUTH[unsorted].sum(axis=1).tolist()
    assert neighbours.tolist() == np.nonzero(TRUTH[unsorted])[1].tolist()
    assert adjacency.degrees().tolist() == TRUTH.sum(axis=1).tolist()


@either
def test_every_edge_is_listed_once(adjacency: Adjacency) -> None:
    source, target = adjacency.edges()
    assert (source < target).all()
    assert np.array_equal(joined(source, target, NODES), TRUTH)
    assert source.size == adjacency.num_edges


@either
def test_the_induced_part_is_renumbered(adjacency: Adjacency) -> None:
    nodes = np.arange(1, NODES, 2)
    part = adjacency.induced(nodes)
    assert np.array_equal(stored(part), TRUTH[np.ix_(nodes, nodes)])
    assert part.indices.dtype == adjacency.indices.dtype


@either
def test_normalised_is_the_formula(adjacency: Adjacency) -> None:
    np.testing.assert_allclose(dense(adjacency.normalised), normalised(TRUTH), atol=1e-7)
    assert adjacency.normalised.dtype == np.float32


@either
@pytest.mark.parametrize("targets", [SOME, np.arange(NODES), np.array([38])])
def test_a_hop_is_rows_of_the_normalised_bit_for_bit(
    adjacency: Adjacency, targets: IntArray
) -> None:
    matrix, sources = adjacency.hop(targets)
    assert sources.tolist() == within(TRUTH, targets, 1).tolist()
    assert np.array_equal(dense(matrix), dense(adjacency.normalised)[np.ix_(targets, sources)])
    assert matrix.nnz == TRUTH[targets].sum() + targets.size


def test_a_row_of_a_hop_is_the_same_in_any_company() -> None:
    together, _ = drawn().hop(SOME)
    for place, node in enumerate(SOME):
        alone, _ = drawn().hop(np.array([node]))
        assert np.array_equal(alone.data, together[[place]].data)


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_without_edges_everybody_is_isolated(nodes: int) -> None:
    none = np.zeros(0, dtype=np.int64)
    adjacency = Adjacency.from_edges(none, none, nodes)
    assert (adjacency.num_nodes, adjacency.num_edges) == (nodes, 0)
    assert [part.size for part in adjacency.edges()] == [0, 0]
    assert np.array_equal(dense(adjacency.normalised), np.eye(nodes))
    matrix, sources = adjacency.hop(np.arange(nodes))
    assert np.array_equal(dense(matrix), np.eye(nodes))
    assert sources.tolist() == list(range(nodes))
    assert adjacency.induced(none).num_nodes == 0


# Many edges are told twice, with another weight or the other way round.
FROM, TO = random_edges(NODES, 250, seed=3)
WEIGHTS = np.random.default_rng(4).uniform(0.1, 3.0, 250).astype(np.float32)
HEAVY, LEADS = weighed(FROM, TO, WEIGHTS, NODES), leading(FROM, TO, NODES)


def told() -> Adjacency:
    """With weights and directions."""
    return Adjacency.from_edges(
        FROM, TO, NODES, weights=WEIGHTS, directions=np.full(WEIGHTS.size, OUT)
    )


def expect(adjacency: Adjacency, heavy: Dense, leads: NDArray[Any]) -> None:
    """These weights, exactly, and these directions."""
    assert np.array_equal(weights_in(adjacency), heavy)
    assert np.array_equal(dense(adjacency.along(OUT)), leads)
    assert np.array_equal(dense(adjacency.along(IN)), leads.T)
    assert adjacency.indices.dtype == adjacency.indptr.dtype == np.int32


def test_an_edge_told_again_has_its_largest_weight_and_all_directions() -> None:
    assert (LEADS & LEADS.T).any()
    assert WEIGHTS.size > told().num_edges + (FROM == TO).sum()
    expect(told(), HEAVY, LEADS)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_weights_and_directions_need_not_come_together(weights: Weights | None) -> None:
    directions = np.full(WEIGHTS.size, OUT)
    directed = Adjacency.from_edges(FROM, TO, NODES, weights=weights, directions=directions)
    assert np.array_equal(dense(directed.along(OUT)), LEADS)
    assert (directed.weights is None) == (weights is None)
    without = Adjacency.from_edges(FROM, TO, NODES, weights=weights)
    assert np.array_equal(weights_in(without), weights_in(directed))
    assert without.directions is None
    assert without.along(OUT).nnz == without.along(IN).nnz == 0


def test_weights_and_directions_go_where_their_edges_go() -> None:
    draws, some = np.random.default_rng(5), np.arange(1, NODES, 2)
    expect(told().induced(some), HEAVY[np.ix_(some, some)], LEADS[np.ix_(some, some)])

    kept = draws.random(told().num_edges) < 0.5
    source, target = (end[kept] for end in told().edges())
    stays = joined(source, target, NODES)
    expect(told().keeping(kept), HEAVY * stays, LEADS & stays)

    place = draws.permutation(NODES + 3)[:NODES]
    heavy, leads = np.zeros((2, NODES + 3, NODES + 3))
    heavy[np.ix_(place, place)], leads[np.ix_(place, place)] = HEAVY, LEADS
    expect(told().renumbered(place, NODES + 3), heavy, leads)

    wider = ((0, 3), (0, 3))
    expect(told().widened(NODES + 3), np.pad(HEAVY, wider), np.pad(LEADS, wider))


def test_weighted_degrees_are_sums() -> None:
    np.testing.assert_allclose(told().weighted_degrees(), HEAVY.sum(axis=1))
    np.testing.assert_allclose(told().weighted_degrees(SOME[::-1]), HEAVY[SOME[::-1]].sum(axis=1))
    counts, neighbours, weights = told().weighted_neighbours(SOME)
    assert counts.tolist() == (HEAVY[SOME] > 0).sum(axis=1).tolist()
    assert neighbours.tolist() == np.nonzero(HEAVY[SOME])[1].tolist()
    assert weights is not None
    assert weights.tolist() == HEAVY[SOME][HEAVY[SOME] > 0].tolist()


@pytest.mark.parametrize("targets", [SOME, np.arange(NODES), np.array([38])])
def test_weights_count_in_the_formula(targets: IntArray) -> None:
    adjacency = told()
    np.testing.assert_allclose(dense(adjacency.normalised), normalised(HEAVY), atol=1e-7)
    matrix, sources = adjacency.hop(targets)
    assert sources.tolist() == within(HEAVY > 0, targets, 1).tolist()
    assert np.array_equal(dense(matrix), dense(adjacency.normalised)[np.ix_(targets, sources)])
    assert matrix.dtype == adjacency.normalised.dtype == np.float32


def test_degrees_of_the_whole_may_count_in_a_part() -> None:
    some = np.arange(1, NODES, 2)
    part = told().counting_all().induced(some)
    np.testing.assert_allclose(
        dense(part.normalised),
        (HEAVY[np.ix_(some, some)] + np.eye(some.size))
        / np.sqrt(np.outer(HEAVY[some].sum(axis=1) + 1, HEAVY[some].sum(axis=1) + 1)),
        atol=1e-7,
    )


def test_ends_of_weighted_edges_must_exist() -> None:
    for end in (-1, NODES, 2**40):
        with pytest.raises(ValueError, match="nodes that are not among 40"):
            Adjacency.from_edges(np.array([0]), np.array([end]), NODES, weights=WEIGHTS[:1])


def test_without_edges_weights_and_directions_are_empty() -> None:
    none = np.zeros(0, dtype=np.int64)
    weights, directions = none.astype(np.float32), none.astype(np.uint8)
    adjacency = Adjacency.from_edges(none, none, 3, weights=weights, directions=directions)
    expect(adjacency, np.zeros((3, 3)), np.zeros((3, 3)))
    assert np.array_equal(dense(adjacency.normalised), np.eye(3))


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"weights": np.ones(3, dtype=np.float32)}, "needs its weight and direction"),
        ({"directions": np.ones(5, dtype=np.uint8)}, "needs its weight and direction"),
        ({"weights": np.array([1, 0, 1, 1], dtype=np.float32)}, "positive and finite"),
        ({"weights": np.array([1, np.nan, 1, 1], dtype=np.float32)}, "positive and finite"),
        ({"weights": np.array([1, np.inf, 1, 1], dtype=np.float32)}, "positive and finite"),
    ],
)
def test_what_is_no_adjacency_is_refused(part: dict[str, Any], message: str) -> None:
    path = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 3)
    path.check()
    with pytest.raises(DataError, match=message):
        replace(path, **part).check()
