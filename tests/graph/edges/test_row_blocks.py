from itertools import pairwise

import numpy as np
import pytest

from nodegraft.graph.edges import operator, row_blocks
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.operator import multiply
from nodegraft.graph.edges.row_blocks import block_bounds, spread_rows, widened
from nodegraft.graph.propagation.propagation import PropagatedFeatures
from tests.graph.reference import dense, normalised, random_graph, random_kinds, weights_in

NODES = 300
WIDTHS = [1, 7, 64]


def hub_and_others(seed: int = 0) -> Adjacency:
    """One node is joined to all, some to nobody else."""
    draws = np.random.default_rng(seed)
    source, target = draws.integers(NODES - 5, size=(2, 600))
    source = np.concatenate((source, np.full(NODES, 17)))
    return Adjacency.from_edges(source, np.concatenate((target, np.arange(NODES))), NODES)


def numbers(columns: int) -> Matrix:
    return np.random.default_rng(1).standard_normal((NODES, columns)).astype(np.float32)


@pytest.mark.parametrize("kind", ["plain", "heavy", "told"])
def test_rows_are_those_of_the_dense_matrix(kind: str) -> None:
    edges = random_kinds()[kind]
    rows = edges.rows_between(5, 31, edges.inverse_roots())
    np.testing.assert_allclose(dense(rows), normalised(weights_in(edges))[5:31], atol=1e-6)


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("chunk", [64, 1 << 16])
def test_company_changes_no_bit(columns: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operator, "CHUNK_ENTRIES", chunk)
    edges, layer = hub_and_others(), numbers(columns)
    roots, few = edges.inverse_roots(), np.array([3, 17, 40, 299])
    truth = spread_rows(edges, roots, layer, 0, NODES)
    for size in (1, 10, 17, 18):
        bounds = [*range(0, NODES, size), NODES]
        parts = [spread_rows(edges, roots, layer, *block) for block in pairwise(bounds)]
        assert np.array_equal(np.concatenate(parts), truth)
    matrix, sources = edges.hop(few)
    assert np.array_equal(multiply(matrix, layer[sources]), truth[few])


def test_long_rows_are_sums_of_chunks_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, layer = hub_and_others(), numbers(7)
    whole = edges.rows_between(0, NODES, edges.inverse_roots())
    plain = multiply(whole, layer)
    monkeypatch.setattr(operator, "CHUNK_ENTRIES", 100)
    chunked = multiply(whole, layer)
    hub = whole[[17]]
    chunks = [slice(start, start + 100) for start in range(0, NODES, 100)]
    first, second, third = (multiply(hub[:, chunk], layer[chunk]) for chunk in chunks)
    assert np.array_equal(chunked[[17]], first + second + third)
    others = np.arange(NODES) != 17
    assert np.array_equal(chunked[others], plain[others])


def test_half_precision_is_summed_in_single_precision() -> None:
    edges, layer = hub_and_others(), numbers(7).astype(np.float16)
    spread = PropagatedFeatures(edges, layer, 2)._spread(layer)
    truth = spread_rows(edges, edges.inverse_roots(), widened(layer), 0, NODES)
    assert spread.dtype == np.float32
    assert np.array_equal(spread, truth)


@pytest.mark.parametrize("sparse", [False, True])
def test_blocks_take_about_what_they_may(sparse: bool) -> None:
    graph = random_graph(sparse, nodes=NODES, edges=900)
    edges, features = graph._adjacency, graph._store.feature_matrix
    bounds = block_bounds(edges, features, 4_000)
    row, entry = row_blocks._costs(features)
    assert (bounds[0], bounds[-1]) == (0, NODES)
    for start, stop in pairwise(bounds):
        entries = int(edges.indptr[stop] - edges.indptr[start]) + stop - start
        assert stop == start + 1 or row * (stop - start) + entry * entries <= 4_000


def test_no_nodes_are_no_blocks() -> None:
    nobody = np.zeros(0, dtype=np.int64)
    assert block_bounds(Adjacency.from_edges(nobody, nobody, 0), np.zeros((0, 3))) == [0]
