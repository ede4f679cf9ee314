from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.evaluation.checks import check_no_leaks
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.methods.sgc_ridge import SGCRidge
from nodegraft.model.checks import check_method
from nodegraft.model.registry import load_model
from nodegraft.tables.disk.save import save_mapped
from tests.graph.reference import Dense, dense

KEYS = ["a", "b", "c", "d"]
COUNTS = np.array([[1.0, 0, 2], [0, 3, 0], [1, 1, 0], [0, 0, 4]])
EDGES = {
    # The lower row is the source of the first edge and the target of the second.
    "head": Relation([("a", "b"), ("c", "a")], directed=True),
    "near": Relation([("a", "c"), ("a", "d")]),
}
LABELS = {"x": ["a", "b"], "y": ["c"]}

both = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])


def graph(sparse: bool = True, counts: Dense = COUNTS) -> Graph:
    return Graph(KEYS, csr_array(counts) if sparse else counts, EDGES)


def unit(rows: Dense) -> Dense:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def blocks(counts: Dense = COUNTS) -> list[Dense]:
    """Written out by hand: own words, those of heads, of dependents, and of near nodes."""
    a, b, c, d = counts
    none = np.zeros(3)
    return [counts] + [
        np.stack(rows) for rows in ((b, none, a, none), (c, a, none, none), (c + d, none, a, a))
    ]


def expected_scores(rows: Dense) -> Dense:
    """The formula of the docstring, with the labels of ``LABELS``."""
    examples, targets = rows[[0, 1, 2]], np.array([[1.0, 0], [1, 0], [0, 1]])
    system = examples @ examples.T + 0.1 * np.diag([2, 2, 1])
    return np.asarray(rows @ examples.T @ np.linalg.solve(system, targets))


@both
def test_typed_blocks_by_hand(sparse: bool) -> None:
    model = SGCRidge(typed_blocks=True).fit(graph(sparse), LABELS)
    rows = np.hstack([unit(block) for block in blocks()]) / 2
    np.testing.assert_allclose(dense(model.embed(graph(sparse), KEYS)), rows, atol=1e-6)
    found = model.score_rows(graph(sparse), np.arange(4))
    np.testing.assert_allclose(found, expected_scores(rows), atol=1e-6)


def test_idf_weighs_columns_of_every_block() -> None:
    counts = np.array([[1.0, 0, 2], [0, 3, 0], [1, 1, 0], [1, 0, 4]])
    rarity = np.log(5 / np.array([4, 3, 3])) + 1
    typed = SGCRidge(typed_blocks=True, idf=True).fit(graph(counts=counts), LABELS)
    rows = np.hstack([unit(block * rarity) for block in blocks(counts)]) / 2
    np.testing.assert_allclose(dense(typed.embed(graph(counts=counts), KEYS)), rows, atol=1e-6)
    hops = SGCRidge(idf=True, hops=1).fit(graph(counts=counts), LABELS)
    spread = dense(graph(counts=counts).propagated(np.arange(4), 1)[1])
    rows = unit(np.hstack([unit(block * rarity) for block in (counts, spread)]))
    found = hops.score_rows(graph(counts=counts), np.arange(4))
    np.testing.assert_allclose(found, expected_scores(rows), atol=1e-6)


def test_idf_counts_the_nodes_visible_at_fit() -> None:
    whole = graph()
    model = SGCRidge(idf=True).fit(whole.view(np.array([0, 1, 2])), LABELS)
    expected = np.log(4 / np.array([3, 3, 2])) + 1
    np.testing.assert_allclose(model.rarity_, expected, rtol=1e-6)
    model.add_classes(whole, {"z": ["d"]})
    np.testing.assert_allclose(model.rarity_, expected, rtol=1e-6)


def test_dense_columns_are_not_weighted() -> None:
    plain, weighted = (SGCRidge(idf=idf).fit(graph(False), LABELS) for idf in (False, True))
    ours, theirs = (model.score_rows(graph(False), np.arange(4)) for model in (plain, weighted))
    np.testing.assert_array_equal(ours, theirs)


def test_self_training_adds_the_best_unlabelled_nodes_as_labels() -> None:
    counts = np.vstack((COUNTS, [[0.0, 2, 1], [0, 5, 1], [1, 1, 1]]))
    whole = Graph([*KEYS, "e", "f", "g"], csr_array(counts), {"near": EDGES["near"]})
    labels = {"x": ["a", "b"], "y": ["c", "d"]}
    rows = np.arange(7)
    first = SGCRidge(hops=0).fit(whole, labels).score_rows(whole, rows)
    # The first solution gives "e" and "f" to x, "e" with the higher score, and "g" to y.
    assert first[4:].argmax(axis=1).tolist() == [0, 0, 1]
    assert first[4, 0] > first[5, 0] + 0.01
    found = SGCRidge(hops=0, self_training=1).fit(whole, labels).score_rows(whole, rows)
    taught = SGCRidge(hops=0).fit(whole, {"x": ["a", "b", "e"], "y": ["c", "d", "g"]})
    np.testing.assert_allclose(found, taught.score_rows(whole, rows), atol=1e-12)
    assert np.abs(found - first).max() > 1e-3


@both
def test_hidden_nodes_are_in_no_block(sparse: bool) -> None:
    whole = graph(sparse)
    hidden = whole.view(np.array([0, 1, 2]))
    inside = EDGES | {"near": Relation([("a", "c")])}
    alone = Graph(KEYS[:3], whole.features(np.arange(3)), inside)
    model = SGCRidge(typed_blocks=True).fit(whole, LABELS)
    np.testing.assert_array_equal(
        dense(model.embed(hidden, KEYS[:3])), dense(model.embed(alone, KEYS[:3]))
    )


@both
def test_types_of_edges_that_come_or_go_after_the_fit_contribute_nothing(sparse: bool) -> None:
    first = graph(sparse)
    features = first.features(np.arange(4))
    more = Graph(KEYS, features, {"late": Relation([("b", "d")]), **EDGES})
    fewer = Graph(KEYS, features, {"head": EDGES["head"]})
    model = SGCRidge(typed_blocks=True).fit(first, LABELS)
    before = dense(model.embed(first, KEYS))
    np.testing.assert_array_equal(dense(model.embed(more, KEYS)), before)
    without = before.copy()
    without[:, 9:] = 0
    np.testing.assert_array_equal(dense(model.embed(fewer, KEYS)), without)
    assert np.isfinite(model.score_rows(fewer, np.arange(4))).all()


@both
def test_scores_do_not_depend_on_the_size_of_blocks_of_rows(
    sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = SGCRidge(typed_blocks=True, idf=True).fit(graph(sparse), LABELS)
    together = model.score_rows(graph(sparse), np.arange(4))
    monkeypatch.setattr(SGCRidge, "block_rows", 1)
    alone = model.score_rows(graph(sparse), np.arange(4))
    np.testing.assert_allclose(alone, together, rtol=1e-12, atol=1e-12)


def test_a_saved_model_keeps_its_blocks_and_column_weights(tmp_path: Path) -> None:
    model = SGCRidge(typed_blocks=True, idf=True).fit(graph(), LABELS)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert isinstance(loaded, SGCRidge)
    assert loaded.edge_types_ == {"head": True, "near": False}
    np.testing.assert_array_equal(
        loaded.score_rows(graph(), np.arange(4)), model.score_rows(graph(), np.arange(4))
    )


@both
def test_typed_blocks_of_a_graph_on_disk(sparse: bool, tmp_path: Path) -> None:
    model = SGCRidge(typed_blocks=True, idf=True).fit(graph(sparse), LABELS)
    mapped = save_mapped(graph(sparse), tmp_path / "graph")
    for rows in (np.arange(4), np.arange(3)):
        np.testing.assert_array_equal(
            model.score_rows(mapped.view(rows), rows),
            model.score_rows(graph(sparse).view(rows), rows),
        )


@pytest.mark.parametrize("options", [{}, {"typed_blocks": True}, {"self_training": 3}])
def test_contract_and_leaks_with_all_options(options: dict[str, Any]) -> None:
    def make() -> SGCRidge:
        return SGCRidge(idf=True, **options)

    check_method(make)
    check_no_leaks(make)
