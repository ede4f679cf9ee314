from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.propagation.spread import FORMED_ROWS, SpreadFeatures
from nodegraft.graph.propagation.typed_blocks import typed_blocks
from tests.graph.reference import Dense, dense, joined_in, normalised, random_edges, stored

NODES, WIDTH = 60, 7
EVERYONE = np.arange(NODES)


def directed_graph(sparse: bool) -> Graph:
    """Some edges lead somewhere, others do not; the last five nodes have none."""
    draws = np.random.default_rng(0)
    features: Any = draws.standard_normal((NODES, WIDTH)).astype(np.float32)
    features[draws.random((NODES, WIDTH)) < 0.5] = 0.0
    features[3] = 0.0
    source, target = random_edges(NODES, 150, seed=0)
    pairs = np.column_stack((source, target))
    kinds = {"by": Relation(pairs[:100], directed=True), "with": Relation(pairs[100:])}
    return Graph(range(NODES), csr_array(features) if sparse else features, kinds)


def layers_of(graph: Graph, columns: Dense) -> list[Dense]:
    """X, SX, S²X, the sums over either direction, and blocks, in dense matrices."""
    features = dense(graph.features(EVERYONE)) * columns
    spread = normalised(joined_in(graph))
    leads = dense(graph._store.adjacency("by").along(OUT))
    layers = [features, spread @ features, spread @ spread @ features]
    layers += [leads @ features, leads.T @ features]
    layers += [leads @ features, leads.T @ features, np.zeros_like(features)]
    layers += [stored(graph._store.adjacency("with")) @ features]
    lengths = [np.linalg.norm(one, axis=1, keepdims=True) for one in layers]
    return [one / np.where(long > 0, long, 1.0) for one, long in zip(layers, lengths, strict=True)]


@pytest.mark.parametrize("sparse", [True, False], ids=["sparse", "dense"])
@pytest.mark.parametrize("count", [1, FORMED_ROWS, NODES])
def test_products_and_sums_are_those_of_the_rows(sparse: bool, count: int) -> None:
    graph, draws = directed_graph(sparse), np.random.default_rng(1)
    columns = draws.uniform(0.5, 2.0, WIDTH).astype(np.float32)
    blocks = typed_blocks({"by": True, "gone": False, "with": False})
    features = SpreadFeatures(graph, 2, columns, directions=True, blocks=blocks)
    rows = np.sort(draws.choice(NODES, count, replace=False))
    near, vectors = features.rows(rows), draws.standard_normal((4, WIDTH))
    shares, formed = draws.random((count, 3)), list(features.formed(rows, features.all_layers))
    for layer, expected in enumerate(layers_of(graph, columns.astype(np.float64))):
        products = near.times(layer, features.weighted(vectors))
        np.testing.assert_allclose(products, expected[rows] @ vectors.T, atol=2e-6)
        sums = near.sums(layer, shares)
        np.testing.assert_allclose(sums, shares.T @ expected[rows], atol=count * 1e-6)
        np.testing.assert_allclose(dense(formed[layer]), expected[rows], atol=1e-6)
    some = list(features.formed(rows, features.block_layers))
    assert features.block_layers == [0, 5, 6, 7, 8]
    for layer, found in zip(features.block_layers, some, strict=True):
        np.testing.assert_array_equal(dense(found), dense(formed[layer]))


def test_directions_do_not_lead_to_hidden_nodes() -> None:
    graph = directed_graph(sparse=False)
    view = graph.view(EVERYONE[:30])
    leads = dense(graph._store.adjacency("by").along(OUT))[:30, :30]
    features = dense(graph.features(EVERYONE[:30]))
    for way, expected in ((OUT, leads), (IN, leads.T)):
        near = view.directed(np.array([2, 9]), way)
        found = dense(near.hops[0].matrix) @ dense(near.features.matrix)
        np.testing.assert_allclose(found, expected[[2, 9]] @ features, atol=1e-5)
