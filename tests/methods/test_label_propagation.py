from pathlib import Path

import numpy as np

from nodegraft.evaluation.checks import check_no_leaks
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import homophily_of_kinds, relation_weights
from nodegraft.methods.label_propagation import LabelPropagation
from nodegraft.model.checks import check_method
from nodegraft.model.registry import load_model
from tests.graph.reference import Dense, random_kinds, typed_graph, weights_in

PATH = Graph(range(5), np.zeros((5, 0)), [(0, 1), (1, 2), (2, 3), (3, 4)])
LABELS = {"x": [0, 1], "y": [4]}
BASE = NodeLabels({"a": range(12), "b": range(12, 24), "c": range(24, 30)})


def spread(matrix: Dense, start: Dense, alpha: float, layers: int) -> Dense:
    """The formula of the docstring."""
    degrees = matrix.sum(axis=1)
    roots = 1 / np.sqrt(np.where(degrees > 0, degrees, np.inf))
    values = start
    for _ in range(layers):
        values = alpha * (roots[:, None] * matrix * roots) @ values + (1 - alpha) * start
    return values


def test_one_balanced_step_by_hand() -> None:
    model = LabelPropagation(balanced=True, alpha=0.5, layers=1).fit(PATH, LABELS)
    root = 0.5**0.5
    # Half of the start stays. Edges weigh 1 / sqrt(2) at the two ends of the path, 1/2 inside.
    x = np.array([0.25 + 0.25 * root, 0.25 + 0.25 * root, 0.125, 0, 0])
    y = np.array([0, 0, 0, 0.5 * root, 0.5])
    expected = np.stack((x / x.mean(), y / y.mean()), axis=1)
    np.testing.assert_allclose(model.score_rows(PATH, PATH.rows), expected, rtol=1e-6)


def test_more_labels_on_one_side_do_not_move_a_balanced_border() -> None:
    ring = Graph(range(12), np.zeros((12, 0)), [(a, (a + 1) % 12) for a in range(12)])
    labels = {"many": [0, 1, 2, 3, 4, 5], "one": [8]}
    plain, balanced = (
        LabelPropagation(balanced=balanced, alpha=0.97).fit(ring, labels)
        for balanced in (False, True)
    )
    assert plain.predict(ring, [7, 9]) == ["many", "many"]
    assert balanced.predict(ring, [7, 9]) == ["one", "one"]
    np.testing.assert_allclose(balanced.score_rows(ring, ring.rows).mean(axis=0), 1.0)


def test_edge_types_weigh_by_homophily() -> None:
    graph = typed_graph()
    model = LabelPropagation(edge_types=True, layers=4).fit(graph, BASE)
    worth, unseen = relation_weights(homophily_of_kinds(graph, BASE))
    assert (model.edge_type_weights_, model.new_edge_type_weight_) == (worth, unseen)
    total = np.sum([worth[name] * weights_in(kind) for name, kind in random_kinds().items()], 0)
    start = np.eye(3)[np.repeat(np.arange(3), [12, 12, 6])]
    start = np.vstack((start, np.zeros((10, 3))))
    expected = spread(total, start, 0.9, 4)
    assert expected.max() <= 1.0
    np.testing.assert_allclose(model.score_rows(graph, graph.rows), expected, rtol=1e-5, atol=1e-7)


def test_weights_of_edge_types_stay_as_they_were_at_fit() -> None:
    both = {"good": [(0, 1), (1, 2), (3, 4)], "bad": [(0, 3)]}
    graph = Graph(range(7), np.zeros((7, 0)), both)
    later = Graph(range(7), np.zeros((7, 0)), {**both, "late": [(5, 6)]})
    model = LabelPropagation(edge_types=True).fit(graph, {"x": [0, 1, 2], "y": [3, 4]})
    weights, unseen = model.edge_type_weights_, model.new_edge_type_weight_
    assert weights["good"] > weights["bad"]
    model.add_classes(later, {"z": [5]})
    assert (model.edge_type_weights_, model.new_edge_type_weight_) == (weights, unseen)
    assert model.predict(later, [6]) == ["z"]


def test_one_edge_type_without_weights_changes_nothing() -> None:
    plain, typed = (
        LabelPropagation(edge_types=typed).fit(PATH, LABELS).score_rows(PATH, PATH.rows)
        for typed in (False, True)
    )
    np.testing.assert_array_equal(plain, typed)


def test_hidden_nodes_carry_nothing() -> None:
    weighted = Relation([(0, 1), (1, 2), (2, 3)], [2.0, 1.0, 3.0])
    graph = Graph(range(5), np.zeros((5, 0)), {"one": weighted, "two": Relation([(0, 3), (3, 4)])})
    inside = {"one": Relation([(0, 1), (1, 2)], [2.0, 1.0]), "two": Relation([])}
    alone = Graph(range(3), np.zeros((3, 0)), inside)
    labels = {"x": [0], "y": [2]}
    ours, theirs = (
        LabelPropagation(balanced=True, edge_types=True).fit(one, labels).score_rows(one, one.rows)
        for one in (graph.view(np.arange(3)), alone)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_a_saved_model_keeps_weights_of_edge_types(tmp_path: Path) -> None:
    graph = typed_graph()
    model = LabelPropagation(edge_types=True, balanced=True).fit(graph, BASE)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(
        loaded.score_rows(graph, graph.rows), model.score_rows(graph, graph.rows)
    )


def test_contract_and_leaks_with_all_options() -> None:
    def make() -> LabelPropagation:
        return LabelPropagation(balanced=True, edge_types=True, alpha=0.97)

    check_method(make)
    check_no_leaks(make)
