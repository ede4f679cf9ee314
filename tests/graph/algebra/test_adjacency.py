import numpy as np
import pytest

from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.matrix import IntArray
from tests.graph.reference import dense, joined, normalised, random_edges, stored, within

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
