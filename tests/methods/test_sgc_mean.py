import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.sgc_mean import SGCMean
from tests.graph.reference import Dense, dense, everyone, joined_in, normalised, random_graph

BASE = NodeLabels({"a": [0, 1, 2, 38], "b": [3, 4], "c": [5]})
NEW = NodeLabels({"d": [6, 7, 39]})


def unit(rows: Dense) -> Dense:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def literal_scores(graph: Graph, hops: int) -> Dense:
    """The formula of the docstring, word for word, in double precision."""
    layer, layers = dense(graph.features(everyone(graph))), []
    for _ in range(hops + 1):
        layers.append(unit(layer))
        layer = normalised(joined_in(graph)) @ layer
    z = unit(np.hstack(layers))
    means = np.stack([z[rows].mean(axis=0) for rows in (*BASE.values(), *NEW.values())])
    centre = means[: len(BASE)].mean(axis=0)
    return unit(z - centre) @ unit(means - centre).T


def scores(graph: Graph, hops: int = 2, rows: NDArray[np.int64] | None = None) -> Dense:
    model = SGCMean(hops=hops).fit(graph, BASE)
    model.add_classes(graph, NEW)
    return model.score_rows(graph, np.arange(40) if rows is None else rows)


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_scores_are_the_formula(hops: int, sparse: bool, seed: int) -> None:
    graph = random_graph(sparse, seed=seed)
    np.testing.assert_allclose(scores(graph, hops), literal_scores(graph, hops), atol=1e-5)


def test_sparse_and_dense_features_score_alike() -> None:
    np.testing.assert_allclose(scores(random_graph(True)), scores(random_graph(False)), atol=1e-6)


def test_blocks_are_not_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = scores(random_graph())
    monkeypatch.setattr(SGCMean, "block_rows", 3)
    np.testing.assert_allclose(scores(random_graph()), whole, atol=1e-6)


def test_the_centre_is_fixed_once_the_base_is_learned() -> None:
    graph = random_graph()
    model = SGCMean().fit(graph, BASE)
    before = model.score_rows(graph, everyone(graph))
    model.add_classes(graph, NEW)
    after = model.score_rows(graph, everyone(graph))
    np.testing.assert_allclose(after[:, : len(BASE)], before, atol=1e-6)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_nodes_without_features_or_edges_and_one_class_alone_are_scored(sparse: bool) -> None:
    features = np.zeros((40, 7))
    features[:30] = dense(random_graph().features(np.arange(30)))
    stored = csr_array(features) if sparse else features
    graph = Graph.from_parts(NodeKeys(np.arange(40)), stored, random_graph()._adjacency)
    assert np.isfinite(scores(graph)).all()
    alone = SGCMean().fit(graph, {"only": [0, 1]})
    assert np.abs(alone.score_rows(graph, everyone(graph))).max() < 1e-3
