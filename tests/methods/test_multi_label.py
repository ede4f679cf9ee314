"""Model whose nodes may have any number of classes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.errors import (
    CheckpointError,
    ClassNameError,
    DataError,
    NotFittedError,
    ParameterError,
    UnknownNodeError,
)
from nodegraft.evaluation.label_sets import evaluate_label_sets
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.methods.multi_label import MultiLabel
from nodegraft.methods.multi_label.calibration import OWN_THRESHOLD, Calibration, class_thresholds
from nodegraft.methods.multi_label.kernel import KernelRidge

Labels: TypeAlias = dict[str, list[Key]]

CLASSES = 6
PAIRS = {"warm": (0, 1, 2), "big": (0, 2, 4), "red": (1, 3)}
"""Classes that overlap: each is a union of blocks of the graph."""


def make_graph(sparse: bool = True) -> tuple[Graph, Labels]:
    """Return a graph of blocks, and overlapping classes that are unions of blocks."""
    drawn, blocks = BlockModel(nodes=300, classes=CLASSES, sparse=sparse, features=40).draw()
    keys = NodeKeys([f"n{row}" for row in range(drawn.num_nodes)])
    edges = Adjacency.from_edges(*drawn.edges(), drawn.num_nodes)
    graph = Graph.from_parts(keys, drawn.features(drawn.rows), edges)
    rows = list(blocks.values())
    members = {
        name: graph.keys_of(np.concatenate([rows[block] for block in some]))
        for name, some in PAIRS.items()
    }
    return graph, members


def divided(members: Labels) -> tuple[Labels, Labels]:
    """Return the labels of nodes that are not held out, and of those that are."""
    train, rest = (
        {
            name: [key for key in keys if (key in HELD_OUT_NODES) == is_held_out]
            for name, keys in members.items()
        }
        for is_held_out in (False, True)
    )
    return train, rest


HELD_OUT_NODES = {f"n{row}" for row in range(0, 300, 3)}
GRAPH, MEMBERS = make_graph()
TRAIN, _ = divided(MEMBERS)
NODES: list[Key] = sorted(f"n{row}" for row in range(0, 300, 3))


def fitted() -> MultiLabel:
    return MultiLabel().fit(GRAPH, TRAIN)


@pytest.mark.parametrize("sparse", [True, False])
def test_predicts_sets_of_classes(sparse: bool) -> None:
    graph, members = make_graph(sparse)
    train, rest = divided(members)
    found = evaluate_label_sets(MultiLabel().fit(graph, train), graph, rest)
    assert found.mean_average_precision > 0.9
    assert min(found.macro_f1, found.micro_f1) > 0.8
    assert found.coverage > 0.9
    assert found.calibration_error < 0.1


def test_predictions_reach_their_thresholds_and_are_sorted() -> None:
    model = fitted()
    shares, least = model.predict_proba(GRAPH, NODES), model.thresholds(GRAPH)
    column = {name: place for place, name in enumerate(model.classes_)}
    sizes = set()
    for row, names in zip(shares, model.predict(GRAPH, NODES), strict=True):
        values = [row[column[name]] for name in names]
        assert values == sorted(values, reverse=True)
        assert set(names) == {name for name in column if row[column[name]] >= least[name]}
        sizes.add(len(names))
    assert {1, 2} <= sizes


def test_a_table_may_name_a_node_several_times() -> None:
    pairs = [(key, name) for name, keys in TRAIN.items() for key in keys]
    keys, names = zip(*pairs, strict=True)
    table = pa.table({"key": list(keys), "label": list(names)})
    model = MultiLabel().fit(GRAPH, table)
    columns = [model.classes_.index(name) for name in TRAIN]
    same = model.predict_proba(GRAPH, NODES)[:, columns]
    assert np.allclose(same, fitted().predict_proba(GRAPH, NODES), atol=1e-9)


def test_left_out_scores_are_those_of_a_fit_without_the_node() -> None:
    generator = np.random.default_rng(0)
    rows = generator.normal(size=(12, 4))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    targets = generator.random((12, 3)) < 0.4
    ridge = KernelRidge.solved(rows, targets, width=0.5, penalty=0.7)
    for node in range(12):
        others = np.arange(12) != node
        kernel = np.exp((rows @ rows.T - 1.0) / 0.5)
        system = kernel[np.ix_(others, others)] + 0.7 * np.eye(11)
        rest = targets[others]
        coefficients = np.linalg.solve(system, rest - rest.mean(axis=0))
        expected = kernel[node, others] @ coefficients + ridge.offsets
        assert np.allclose(ridge.left_out[node], expected)


@pytest.mark.parametrize("seed", range(5))
def test_a_higher_score_has_a_higher_probability(seed: int) -> None:
    draws = np.random.default_rng(seed)
    targets = np.repeat(np.eye(3, dtype=bool), 3, axis=0)
    # With few labels, labelled nodes may score lower than others by chance.
    left_out = 0.4 - 0.1 * targets + draws.uniform(0.0, 0.02, targets.shape)
    calibration = Calibration.fitted(left_out, targets)
    scores = np.linspace(0.1, 1.0, 20)[:, None].repeat(3, axis=1)
    assert (np.diff(calibration.probabilities(scores), axis=0) > 0.0).all()


def test_nodes_of_a_small_class_do_not_score_lower_without_themselves() -> None:
    targets = np.repeat(np.eye(3, dtype=bool), 3, axis=0)
    strangers = KernelRidge.solved(np.eye(9), targets, 0.2, 1.0)
    assert np.allclose(strangers.left_out, 1 / 3, atol=1e-3)


def test_a_class_with_one_label_has_the_threshold_of_all_classes() -> None:
    draws = np.random.default_rng(0)
    targets = np.zeros((60, 2), dtype=bool)
    targets[:30, 0] = targets[59, 1] = True
    probabilities = np.where(targets, 0.8, 0.2) + draws.uniform(-0.1, 0.1, (60, 2))
    probabilities[59, 1] = 0.004
    large, lonely = class_thresholds(probabilities, targets)
    assert large > 0.5
    assert lonely > 0.5


def test_changes_that_are_taken_back_leave_no_trace() -> None:
    """Apply random changes and their inverses, and require the same bits."""
    model, dice = fitted(), np.random.default_rng(0)
    before = model.predict_proba(GRAPH, NODES)
    for number in range(5):
        undo: list[Callable[[], None]] = []
        for step in range(4):
            name = f"class {number}-{step}"
            keys = GRAPH.keys_of(dice.choice(GRAPH.num_nodes, 5, replace=False))
            known = list(TRAIN)[dice.integers(len(TRAIN))]
            new = [key for key in keys if key not in model.labels_[known]]
            model.add_classes(GRAPH, {name: keys})
            undo.append(partial(model.remove_classes, [name]))
            if new:
                model.add_labels(GRAPH, {known: new})
                undo.append(partial(model.remove_labels, {known: new}))
        assert model.predict_proba(GRAPH, NODES).shape != before.shape
        for take_back in reversed(undo):
            take_back()
        assert np.array_equal(model.predict_proba(GRAPH, NODES), before)


def test_a_saved_model_predicts_the_same(tmp_path: Path) -> None:
    model = fitted()
    model.save(tmp_path / "model")
    loaded = MultiLabel.load(tmp_path / "model")
    assert loaded == model
    assert loaded.labels_ == model.labels_
    assert np.array_equal(loaded.predict_proba(GRAPH, NODES), model.predict_proba(GRAPH, NODES))
    with pytest.raises(CheckpointError, match=r"nodegraft\.MultiLabel\.load"):
        ng.load_model(tmp_path / "model")


def test_a_model_of_one_class_per_node_is_refused(tmp_path: Path) -> None:
    labels = {"a": ["n0", "n1"], "b": ["n2", "n3"]}
    ng.make_method("sgc-mean").fit(GRAPH, labels).save(tmp_path / "model")
    with pytest.raises(CheckpointError, match=r"nodegraft\.load_model"):
        MultiLabel.load(tmp_path / "model")


def test_rows_may_come_in_another_order() -> None:
    order = np.random.default_rng(1).permutation(GRAPH.num_nodes)
    place = np.argsort(order)
    source, target = GRAPH.edges()
    edges = Adjacency.from_edges(place[source], place[target], GRAPH.num_nodes)
    other = Graph.from_parts(NodeKeys(GRAPH.keys_of(order)), GRAPH.features(order), edges)
    model = fitted()
    expected = model.predict_proba(GRAPH, NODES)
    assert np.allclose(model.predict_proba(other, NODES), expected, atol=1e-5)


def test_a_grown_graph_may_have_new_labels() -> None:
    model = fitted()
    grown = GRAPH.grow(["new"], GRAPH.features(GRAPH.rows_of([TRAIN["red"][0]])))
    assert "red" in model.predict(grown, ["new"])[0]
    model.add_labels(grown, {"warm": ["new"]})
    assert "new" in model.labels_["warm"]


def test_classes_with_few_labels_share_a_threshold() -> None:
    generator = np.random.default_rng(0)
    counts = [12, 15, OWN_THRESHOLD, 60]
    targets = np.column_stack([np.arange(200) < count for count in counts])
    probabilities = 0.6 * targets * generator.random((200, 4)) + 0.4 * generator.random((200, 4))
    thresholds = class_thresholds(probabilities, targets)
    assert thresholds[0] == thresholds[1]
    assert len(set(thresholds.tolist())) == 3


@pytest.mark.parametrize(
    ("labels", "error", "says"),
    [
        ({"warm": ["n1", "n1"]}, ClassNameError, "twice: 'n1'"),
        ({"warm": []}, ClassNameError, "no nodes"),
        ({}, ClassNameError, "No class"),
        ({"warm": ["nobody"]}, UnknownNodeError, "nobody"),
        ({"warm": "n1"}, ParameterError, "list"),
        ({"": ["n1"]}, ClassNameError, "text"),
        ({"warm": ["n1"], "Warm": ["n2"]}, ClassNameError, "Warm"),
    ],
)
def test_unusable_labels_are_refused(labels: Labels, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        MultiLabel().fit(GRAPH, labels)


def test_changes_that_do_not_fit_are_refused_and_change_nothing() -> None:
    model = fitted()
    before = model.labels_
    first = TRAIN["warm"][0]
    with pytest.raises(ClassNameError, match="exists already"):
        model.add_classes(GRAPH, {"warm": [first]})
    with pytest.raises(ClassNameError, match="already"):
        model.add_labels(GRAPH, {"red": [TRAIN["red"][0]]})
    with pytest.raises(ClassNameError, match="no class 'cold'"):
        model.add_labels(GRAPH, {"cold": [first]})
    with pytest.raises(ClassNameError, match="no labels of 'red'"):
        model.remove_labels({"red": [NODES[0]]})
    with pytest.raises(ClassNameError, match="remove the class"):
        model.remove_labels({"warm": TRAIN["warm"]})
    with pytest.raises(ClassNameError, match="the last one"):
        model.remove_classes(list(TRAIN))
    assert model.labels_ == before


def test_graphs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(NotFittedError):
        MultiLabel().predict(GRAPH, ["n0"])
    with pytest.raises(DataError, match="features"):
        fitted().predict(Graph(["n0"], np.eye(1)), ["n0"])
    with pytest.raises(DataError, match="has none"):
        MultiLabel().fit(Graph(["a"], np.zeros((1, 0))), {"warm": ["a"]})
    with pytest.raises(ClassNameError, match="no class 'cold'"):
        evaluate_label_sets(fitted(), GRAPH, {"cold": ["n0"]})
    with pytest.raises(ClassNameError, match="labels of the model"):
        evaluate_label_sets(fitted(), GRAPH, {"warm": TRAIN["warm"][:1]})
    with pytest.raises(ClassNameError, match="No node given"):
        evaluate_label_sets(fitted(), GRAPH, {"warm": []})


def test_nodes_of_other_types_have_no_classes() -> None:
    products, users = {"key": ["p1", "p2"], "price": [1.0, 2.0]}, {"key": ["u1"]}
    edges = {("user", "bought", "product"): {"source": ["u1"], "target": ["p1"]}}
    graph = ng.read_graph({"product": products, "user": users}, edges, features="price")
    model = MultiLabel().fit(graph, {"warm": ["p1"], "big": ["p2"]})
    with pytest.raises(DataError, match="type user"):
        MultiLabel().fit(graph, {"warm": ["user:u1"]})
    with pytest.raises(DataError, match="type user"):
        model.predict(graph, ["user:u1"])


def test_labels_to_remove_may_be_a_table() -> None:
    model, removed = fitted(), TRAIN["warm"][:2]
    model.remove_labels(pa.table({"key": removed, "label": ["warm", "warm"]}))
    assert not set(removed) & set(model.labels_["warm"])


def test_a_penalty_that_is_too_small_is_named() -> None:
    graph = Graph(["a", "b", "c"], np.ones((3, 2)))
    model = MultiLabel(penalty=1e-300).fit(graph, {"warm": ["a"], "big": ["b", "c"]})
    with pytest.raises(ParameterError, match="penalty=1e-300"):
        model.predict(graph, ["a"])
