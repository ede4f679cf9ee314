"""Prediction sets: coverage that holds, thresholds, and a model that stays as it was."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import Listener
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.graft import Graft
from nodegraft.methods.sgc_ridge import SGCRidge
from nodegraft.model.method import Method
from nodegraft.model.prediction_sets import (
    OWN_THRESHOLD,
    SetCalibration,
    _own_probabilities,
    conformal_threshold,
)
from nodegraft.model.registry import make_method

OLD, NEW = 6, 4
"""Classes with many labels, and with five."""


def drawn(seed: int, many: int = 60) -> tuple[Graph, NodeLabels, dict[str, list[Key]]]:
    """A graph, its classes and the labels that teach: many of the first ones, five of the last."""
    model = BlockModel(nodes=3000, classes=OLD + NEW, degree=4.0, signal=0.2, seed=seed)
    graph, classes = model.draw()
    random = np.random.default_rng(seed)
    counts = [many] * OLD + [5] * NEW
    pairs = zip(classes.items(), counts, strict=True)
    labels = {
        name: graph.keys_of(random.permutation(rows)[:count]) for (name, rows), count in pairs
    }
    return graph, classes, labels


def taught(graph: Graph, labels: Mapping[str, Sequence[Key]], method: Method) -> Method:
    names = list(labels)
    method.fit(graph, {name: labels[name] for name in names[:OLD]})
    method.add_classes(graph, {name: labels[name] for name in names[OLD:]})
    return method


def covered(model: Method, graph: Graph, classes: NodeLabels, coverage: float) -> tuple[float, ...]:
    """Coverage of unlabelled nodes of old and of new classes, and the mean size of their sets."""
    used = {key for keys in model.labels_.values() for key in keys.tolist()}
    hits: dict[bool, list[bool]] = {False: [], True: []}
    sizes = []
    for place, (name, rows) in enumerate(classes.items()):
        nodes = [key for key in graph.keys_of(rows) if key not in used]
        found = model.predict_sets(graph, nodes, coverage)
        hits[place >= OLD] += [name in one for one in found.sets]
        sizes += [len(one) for one in found.sets]
    return float(np.mean(hits[False])), float(np.mean(hits[True])), float(np.mean(sizes))


@pytest.mark.parametrize("coverage", [0.9, 0.95])
@pytest.mark.parametrize("method", ["graft", "sgc-ridge"])
def test_coverage_holds_for_old_and_new_classes(method: str, coverage: float) -> None:
    found = []
    for seed in range(3):
        graph, classes, labels = drawn(seed)
        model = taught(graph, labels, make_method(method))
        found.append(covered(model, graph, classes, coverage))
    old, new, size = np.mean(found, axis=0)
    assert abs(old - coverage) < 0.03
    # Twenty labels decide about the new classes: their coverage varies by a few points.
    assert coverage - 0.06 < new < 1.0
    assert size < {"graft": 4.5, "sgc-ridge": 9.5}[method]


def test_a_model_without_the_labels_that_are_scored_is_needed() -> None:
    """Thresholds from scores of nodes that taught would promise too much."""
    graph, classes, labels = drawn(0)
    model = taught(graph, labels, Graft())
    honest = model.calibrate_sets(graph).probabilities
    labelled = dict(_own_probabilities(model, graph, model.labels_.on(graph)))
    new = list(classes)[OLD:]
    mean = np.mean([honest[name].mean() for name in new])
    assert np.mean([labelled[name].mean() for name in new]) > mean + 0.05
    with pytest.raises(ParameterError, match="5 nodes of held_out are labels of the model"):
        model.calibrate_sets(graph, {new[0]: labels[new[0]]})


def test_held_out_nodes_are_used_where_a_class_has_some() -> None:
    graph, classes, labels = drawn(1)
    model = taught(graph, labels, SGCRidge())
    name = model.classes_[0]
    free = [key for key in graph.keys_of(classes[name]) if key not in labels[name]][:70]
    found = model.calibrate_sets(graph, {name: free})
    assert found.probabilities[name].size == 70
    other = model.classes_[1]
    assert found.probabilities[other].size == len(labels[other])
    groups = found.groups(0.9)
    assert [group.classes for group in groups if group.nodes == 70] == [(name,)]


def test_calibrating_leaves_model_and_cache_as_they_were() -> None:
    graph, _, labels = drawn(2)
    model = taught(graph, labels, Graft())
    nodes = graph.keys_of(graph.rows[:50])
    before, derived = model.predict_proba(graph, nodes), model._derivations.latest  # type: ignore[attr-defined]
    first = model.predict_sets(graph, nodes)
    assert np.array_equal(model.predict_proba(graph, nodes), before)
    assert model._derivations.latest is derived  # type: ignore[attr-defined]
    assert model.calibrate_sets(graph) is first.calibration
    assert model.predict_sets(graph, nodes, 0.99).calibration is first.calibration
    model.remove_classes([model.classes_[-1]])
    assert model.calibrate_sets(graph) is not first.calibration


def test_the_order_of_labels_plays_no_part() -> None:
    graph, _, labels = drawn(3, many=20)
    nodes = graph.keys_of(graph.rows[:200])
    turned = {name: list(reversed(labels[name])) for name in reversed(list(labels)[:OLD])}
    turned |= {name: list(reversed(labels[name])) for name in list(labels)[OLD:]}
    one = taught(graph, labels, SGCRidge()).predict_sets(graph, nodes)
    other = taught(graph, turned, SGCRidge()).predict_sets(graph, nodes)
    assert [set(found) for found in one.sets] == [set(found) for found in other.sets]


def test_sets_are_sorted_and_grow_with_coverage() -> None:
    graph, _, labels = drawn(4)
    model = taught(graph, labels, Graft())
    nodes = graph.keys_of(graph.rows[:300])
    likely, names = model.predict_proba(graph, nodes), list(model.classes_)
    small, large = (model.predict_sets(graph, nodes, share).sets for share in (0.7, 0.95))
    for row, (some, more) in enumerate(zip(small, large, strict=True)):
        assert set(some) <= set(more)
        shares = [likely[row, names.index(name)] for name in more]
        assert shares == sorted(shares, reverse=True)


def test_classes_with_too_few_labels_share_a_threshold_or_are_in_every_set() -> None:
    large, small = np.linspace(0.5, 1, 60), np.array([0.2, 0.3])
    few = SetCalibration(
        {"a": large, "b": small, "c": np.zeros(0), "d": np.full(20, 0.4)},
        {"a": 60, "b": 2, "c": 1, "d": 20},
    )
    own, shared, none = few.groups(0.9)
    assert (own.classes, own.nodes) == (("a",), 60)
    assert (shared.classes, shared.nodes) == (("b", "d"), 22)
    assert (none.classes, none.threshold) == (("c",), -np.inf)
    assert "a threshold of their own: 1; that share one: 2. In every set: 1," in few.note(0.9)
    # The nodes of large classes say nothing of small ones.
    short = SetCalibration({"a": large, "b": small}, {"a": 60, "b": 2})
    assert short.thresholds(0.9).tolist()[1] == -np.inf
    assert not np.isfinite(few.thresholds(0.999)).any()
    assert "needs 999 labels" in few.note(0.999)
    assert OWN_THRESHOLD <= 60


def test_one_hard_new_class_is_covered() -> None:
    """Five labels cannot calibrate 90 %: the class is in every set instead of in too few."""
    graph, classes, labels = drawn(7)
    some = {name: labels[name] for name in list(labels)[: OLD + 1]}
    model = taught(graph, some, Graft())
    name = list(some)[-1]
    nodes = [key for key in graph.keys_of(classes[name]) if key not in labels[name]]
    found = model.predict_sets(graph, nodes, 0.9)
    assert all(name in one for one in found.sets)
    assert "In every set: 1" in found.note


def test_no_nodes_have_no_sets() -> None:
    graph, _, labels = drawn(8)
    found = taught(graph, labels, SGCRidge()).predict_sets(graph, [])
    assert found.sets == []
    assert found.to_arrow().num_rows == 0


def test_thresholds_leave_out_no_more_than_allowed() -> None:
    """Of n + 1 exchangeable numbers, the last one is below the threshold at most so often."""
    random = np.random.default_rng(0)
    numbers = random.random((4000, 20))
    thresholds = [conformal_threshold(row[:-1], 0.9) for row in numbers]
    assert 0.88 < np.mean(numbers[:, -1] >= thresholds) < 0.92
    assert conformal_threshold(np.ones(8), 0.9) == -np.inf


def test_what_cannot_be_calibrated_is_refused() -> None:
    graph, classes, labels = drawn(5)
    with pytest.raises(ParameterError, match="does not know: typo"):
        taught(graph, labels, SGCRidge()).predict_sets(graph, [0], held_out={"typo": [1]})
    first = {name: labels[name] for name in list(labels)[:OLD]}
    model = make_method("proto-gcn").fit(graph, first)
    with pytest.raises(ParameterError, match="held_out in Python"):
        model.predict_sets(graph, [0])
    held_out = {
        name: [key for key in graph.keys_of(rows) if key not in first[name]][:30]
        for name, rows in classes.items()
        if name in first
    }
    assert len(model.predict_sets(graph, [0, 1], 0.9, held_out=held_out)) == 2
    for wrong in (0.0, 1.0, 90):
        with pytest.raises(ParameterError, match="coverage"):
            model.predict_sets(graph, [0], wrong)


def test_a_listener_is_told_how_far_it_is() -> None:
    graph, _, labels = drawn(6)
    model, steps = taught(graph, labels, SGCRidge()), []

    class Steps(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            steps.append((stage, done, total))

    model.calibrate_sets(graph, listener=Steps())
    assert steps[-1] == ("calibrate prediction sets", 5, 5)
