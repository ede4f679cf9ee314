"""Store whose nodes may have several labels."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nodegraft as ng
from nodegraft.analysis.labels.changes import Change
from nodegraft.base.errors import (
    ClassNameError,
    DataError,
    NodegraftError,
    ParameterError,
    SeveralLabelsError,
    StoreError,
    UnknownNodeError,
)
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.store.intent import Intent
from nodegraft.store.several_labels import SeveralLabelsStore

PAIRS = {"warm": (0, 1, 2), "big": (0, 2, 4), "red": (1, 3)}
"""Classes that overlap: each is a union of blocks of the graph."""


def make_graph() -> tuple[Graph, dict[str, list[Key]]]:
    """Return a small graph of blocks, and labels of every second node of each class."""
    drawn, blocks = BlockModel(nodes=120, classes=5, sparse=True, features=20).draw()
    keys = NodeKeys([f"n{row}" for row in range(drawn.num_nodes)])
    edges = Adjacency.from_edges(*drawn.edges(), drawn.num_nodes)
    graph = Graph.from_parts(keys, drawn.features(drawn.rows), edges)
    rows = list(blocks.values())
    return graph, {
        name: graph.keys_of(np.concatenate([rows[block][::2] for block in some]))
        for name, some in PAIRS.items()
    }


GRAPH, LABELS = make_graph()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SeveralLabelsStore]:
    with ng.Store.init(tmp_path / "s", GRAPH, LABELS, several_labels=True) as made:
        assert isinstance(made, SeveralLabelsStore)
        yield made


def newest(store: SeveralLabelsStore) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """Return the classes of the newest version, and the probability of each node and class."""
    found = store.predict(version=store.newest)
    return found.names, found.probabilities


def test_a_node_has_its_labels_and_the_classes_that_reach_their_threshold(
    store: SeveralLabelsStore,
) -> None:
    model = ng.MultiLabel().fit(GRAPH, LABELS)
    nodes = GRAPH.keys_of(GRAPH.rows)
    found = store.predict(ignore_labels=True)
    assert found.classes == model.predict(GRAPH, nodes)
    assert np.array_equal(found.probabilities, model.predict_proba(GRAPH, nodes))
    labelled = store.predict(LABELS["warm"])
    assert all("warm" in classes for classes in labelled.classes)
    table = labelled.to_arrow().to_pylist()
    own = {row["node"] for row in table if (row["class"], row["reason"]) == ("warm", "own_label")}
    assert own == set(LABELS["warm"])
    predicted = [
        row for row in store.predict().to_arrow().to_pylist() if row["reason"] == "prediction"
    ]
    assert predicted
    assert all(row["probability"] >= row["threshold"] for row in predicted)


def test_every_node_that_was_asked_for_is_in_the_table(store: SeveralLabelsStore) -> None:
    with pytest.raises(UnknownNodeError):
        store.predict(["nobody"])
    found = store.predict(["n1", "nobody"], missing="null")
    assert found.is_found.tolist() == [True, False]
    last = found.to_arrow().to_pylist()[-1]
    assert (last["node"], last["class"], last["reason"]) == ("nobody", None, "unknown_key")
    assert len(store.predict(["n1", "nobody"], missing="skip")) == 1
    everyone = store.predict()
    assert set(everyone.to_arrow()["node"].to_pylist()) == set(GRAPH.keys_of(GRAPH.rows))


@pytest.mark.parametrize("ignore_labels", [False, True])
def test_lists_and_tables_are_in_the_order_of_the_objects(
    store: SeveralLabelsStore, ignore_labels: bool
) -> None:
    nodes = ["n5", "nobody", *GRAPH.keys_of(GRAPH.rows)]
    found = store.predict(nodes, missing="null", ignore_labels=ignore_labels)
    results = found.to_results()
    assert found.classes == [[own.class_ for own in row.classes] for row in results]
    assert {len(own) for own in found.classes} >= {0, 1, 2}
    for row in results:
        probabilities = [own.probability for own in row.classes]
        assert probabilities == sorted(probabilities, reverse=True)
    rows = list[tuple[Any, ...]]()
    for row in results:
        for own in row.classes:
            rows.append((row.node, own.class_, own.probability, own.threshold, own.reason))
        if not row.classes:
            rows.append((row.node, None, None, None, "no_class" if row.found else "unknown_key"))
    assert [tuple(row.values()) for row in found.to_arrow().to_pylist()] == rows
    assert store.predict([]).to_arrow().num_rows == 0
    assert store.predict([]).classes == []


@pytest.mark.parametrize("name", ["rows", "top", "min_confidence", "coverage"])
def test_arguments_of_other_stores_are_refused(store: SeveralLabelsStore, name: str) -> None:
    predict: Callable[..., Any] = store.predict
    with pytest.raises(SeveralLabelsError, match=f"The argument '{name}' of Store.predict is not"):
        predict(["n1"], **{name: 1})
    assert len(predict(["n1"], **{name: None})) == 1
    with pytest.raises(TypeError, match="tops"):
        predict(["n1"], tops=1)


def test_classes_with_one_label_are_warned_of_at_creation(
    store: SeveralLabelsStore, tmp_path: Path
) -> None:
    assert store.version().measures["warnings"] == []
    for number, names in enumerate((["one"], ["one", "two"])):
        labels = LABELS | {name: ["n1"] for name in names}
        with ng.Store.init(tmp_path / f"{number}", GRAPH, labels, several_labels=True) as made:
            (warning,) = made.version().measures["warnings"]
        assert f"{', '.join(map(repr, names))} ha" in warning
        assert "only 1 label" in warning


def test_a_reopened_store_predicts_the_same(store: SeveralLabelsStore) -> None:
    store.add({"new": ["n1", "n5", "n9"]}, intent=Intent(promote=True))
    with ng.Store.open(store.place) as other:
        assert isinstance(other, SeveralLabelsStore)
        assert other.live == 2
        assert newest(other)[0] == newest(store)[0]
        assert np.array_equal(newest(other)[1], newest(store)[1])
    assert not ng.Store.verify(store.place).findings


def test_labels_of_other_classes_stay(store: SeveralLabelsStore) -> None:
    shared = next(key for key in LABELS["warm"] if key in LABELS["big"])
    store.unlabel({"warm": [shared]})
    assert shared not in store.state(2).labels["warm"].tolist()
    assert shared in store.state(2).labels["big"].tolist()
    new = next(key for key in GRAPH.keys_of(GRAPH.rows) if key not in LABELS["warm"])
    store.label({"warm": [new]})
    assert new in store.state(3).labels["warm"].tolist()
    store.remove(["red"])
    assert list(store.state(4).labels) == ["warm", "big"]
    assert store.live == 1
    actions = [version.action for version in store.history()]
    assert actions == ["init", "unlabel", "label", "remove"]


def test_a_preview_counts_the_nodes_of_each_class(store: SeveralLabelsStore) -> None:
    change = Change.of("remove", names=["red"])
    before = store.predict(ignore_labels=True)
    preview = store.preview(change)
    (effect,) = [own for own in preview.classes if own.name == "red"]
    assert effect.lost == before.is_predicted[:, before.names.index("red")].sum() > 0
    assert (effect.labels, effect.predicted, effect.gained) == (0, 0, 0)
    assert preview.changed >= effect.lost
    assert store.newest == 1
    assert store.change(change).measures["flipped"] == preview.changed
    one = store.preview(Change.of("add", classes={"single": ["n1"]}))
    assert "only 1 label" in one.warnings()[0]


def random_change(store: SeveralLabelsStore, dice: np.random.Generator, step: int) -> Change:
    labels = store.state(store.newest).labels
    name = str(dice.choice(list(labels)))
    own = labels[name].tolist()
    others = [key for key in GRAPH.keys_of(GRAPH.rows) if key not in own]
    some = dice.choice(others, 3, replace=False).tolist()
    choices = [
        Change("add", {"classes": {f"class {step}": some}}),
        Change("label", {"more": {name: some}}),
    ]
    if len(own) > 2:
        choices.append(Change("unlabel", {"labels": {name: own[:2]}}))
    if len(labels) > 2:
        choices.append(Change("remove", {"names": [name]}))
    choices.append(Change("rename", {"old": name, "new": f"renamed {step}", "force_name": True}))
    return choices[dice.integers(len(choices))]


@pytest.mark.parametrize("seed", range(3))
def test_random_changes_can_be_undone_exactly(store: SeveralLabelsStore, seed: int) -> None:
    """Apply random changes, and undo some; after each undo the predictions have the same bits."""
    dice, before, changes = np.random.default_rng(seed), [newest(store)], list[int]()
    for step in range(40):
        if len(before) > 1 and dice.random() < 0.4:
            before.pop()
            # Undo the last change that is still contained.
            store.undo(changes.pop())
            names, probabilities = newest(store)
            assert names == before[-1][0]
            assert np.array_equal(probabilities, before[-1][1])
        else:
            changes.append(store.change(random_change(store, dice, step)).number)
            before.append(newest(store))
    assert len(store.history()) == 41


def test_an_earlier_change_is_undone_by_applying_later_ones_again(
    store: SeveralLabelsStore,
) -> None:
    store.add({"first": ["n1", "n3"]})
    store.add({"second": ["n1", "n7"]})
    store.undo(2)
    assert list(store.state(4).labels) == [*LABELS, "second"]
    store.add({"third": ["n1"]})
    store.label({"third": ["n2"]})
    with pytest.raises(StoreError, match=r"version 6 \(label\) builds on it"):
        store.undo(5)
    assert store.newest == 6
    store.discard()
    assert list(store.state(store.newest).labels) == list(LABELS)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (Change("add", {"classes": {"warm": ["n1"]}}), ClassNameError, "exists already"),
        (Change("add", {"classes": {"Warm": ["n1"]}}), ClassNameError, "only by case"),
        (Change("add", {"classes": {"new": ["nobody"]}}), UnknownNodeError, "nobody"),
        (Change("add", {"classes": {"new": []}}), ClassNameError, "no nodes"),
        (Change("label", {"more": {"cold": ["n1"]}}), ClassNameError, "no class 'cold'"),
        (Change("label", {"more": {"warm": LABELS["warm"][:1]}}), ClassNameError, "already"),
        (Change("unlabel", {"labels": {"red": LABELS["red"]}}), ClassNameError, "remove the class"),
        (Change("unlabel", {"keys": ["n1"]}), SeveralLabelsError, "'keys' of 'unlabel'"),
        (Change("remove", {"names": list(LABELS)}), ClassNameError, "the last one"),
        (Change("remove", {"names": ["red", "red"]}), ClassNameError, "given twice: 'red'"),
        (
            Change("unlabel", {"labels": {"warm": LABELS["warm"][:1] * 2}}),
            ClassNameError,
            "'warm' lists a node twice",
        ),
        (Change("merge", {"names": ["warm", "big"], "into": "x"}), SeveralLabelsError, "'merge'"),
        (
            Change("add", {"classes": {"x": ["n1"]}, "parent": "red"}),
            SeveralLabelsError,
            "'parent'",
        ),
    ],
)
def test_a_refused_change_changes_nothing(
    store: SeveralLabelsStore, change: Change, error: type[NodegraftError], says: str
) -> None:
    for call in (store.preview, store.change):
        with pytest.raises(error, match=says):
            call(change)
    assert store.newest == 1
    assert {name: set(keys) for name, keys in LABELS.items()} == {
        name: set(keys.tolist()) for name, keys in store.state().labels.items()
    }


def test_a_renamed_class_keeps_its_predictions(store: SeveralLabelsStore) -> None:
    before = newest(store)
    preview = store.preview(Change.of("rename", old="big", new="large"))
    assert (preview.changed, list(preview.classes)) == (0, [])
    store.rename("big", "large")
    assert newest(store)[0] == ("warm", "large", "red")
    assert np.array_equal(newest(store)[1], before[1])
    with pytest.raises(ClassNameError, match="exists already"):
        store.rename("red", "warm")
    with pytest.raises(ClassNameError, match="only by case"):
        store.rename("red", "Warm")
    with pytest.raises(ClassNameError, match="no class 'big'"):
        store.rename("big", "vast")
    store.undo()
    assert newest(store)[0] == before[0]


def test_integer_keys_and_keys_of_no_use(tmp_path: Path) -> None:
    nodes = {"key": [10, 20, 30, 40], "x": [1.0, 2.0, -1.0, -2.0], "y": [1.0, 1.0, 2.0, 1.0]}
    graph = ng.read_graph(nodes, features=["x", "y"])
    first: dict[str, Any] = {"a": [10, 20], "b": np.array([20, 30])}
    with ng.Store.init(tmp_path / "s", graph, first, several_labels=True) as store:
        store.add({"c": np.array([10, 40])})
        assert isinstance(store, SeveralLabelsStore)
        store.unlabel({"a": [np.int64(10)]})
        assert store.version().detail == {"labels": {"a": [10]}}
        assert store.predict([40], version=3).to_arrow()["node"].to_pylist()[0] == 40
        for odd in (["x"], [10.5], [[1]], [True], "x", [None]):
            bad: Any = {"a": odd}
            for call in (store.label, store.unlabel):
                with pytest.raises(NodegraftError):
                    call(bad)
            with pytest.raises(NodegraftError):
                store.add({"d": bad["a"]})
        assert store.newest == 3


def test_an_override_is_refused_because_there_is_no_gate(store: SeveralLabelsStore) -> None:
    with pytest.raises(ParameterError, match="No quality gate"):
        store.add({"new": ["n1"]}, intent=Intent(override="sure"))


SUPPORTED = {
    *(
        "add",
        "candidate",
        "change",
        "classes",
        "close",
        "discard",
        "fit_needed",
        "graph",
        "grow",
        "preview_grow",
        "has_several_labels",
    ),
    *("history", "init", "key_column", "label", "labels", "live", "migrate", "newest", "open"),
    *("place", "parts", "predict", "preview", "promote", "promotions", "prune", "pruned", "remove"),
    *(
        "rename",
        "rollback",
        "search",
        "state",
        "table_options",
        "texts",
        "undo",
        "unlabel",
        "verify",
    ),
    *("version", "waiting"),
}
"""All that such a store has; the test below requires that the rest refuses by name."""


def test_all_other_methods_refuse_by_name(store: SeveralLabelsStore) -> None:
    names = {name for name, _ in inspect.getmembers(ng.Store) if not name.startswith("_")}
    for name in sorted(names - SUPPORTED):
        says = f"Store.{name} is not supported for a store with several labels per node"
        with pytest.raises(SeveralLabelsError, match=says):
            getattr(store, name)()
    with pytest.raises(SeveralLabelsError, match="This is not supported"):
        store.parts.state(store.version())


def test_versions_are_promoted_pruned_and_searched(store: SeveralLabelsStore) -> None:
    store.add({"new": ["n1", "n3"]}, intent=Intent(promote=True))
    store.rollback()
    assert (store.live, store.waiting()) == (1, store.version(2))
    assert not list(store.place.glob("cards/*"))
    assert store.search("n11")[0] == "n11"
    assert "several per node" in store._repr_html_()
    for _ in range(3):
        store.label({"new": ["n5"]})
        store.unlabel({"new": ["n5"]})
    assert store.prune(1).versions
    assert newest(store)[0] == (*LABELS, "new")


def test_a_store_grows_and_the_growth_is_undone(tmp_path: Path) -> None:
    nodes = {"key": ["a", "b", "c", "d"], "x": [1.0, 2.0, -1.0, -2.0], "y": [1.0, 1.0, 2.0, 1.0]}
    edges = {"source": ["a", "c"], "target": ["b", "d"]}
    graph = ng.read_graph(nodes, edges, features=["x", "y"])
    labels = {"left": ["a", "b"], "low": ["b", "c"]}
    new = {"key": ["e"], "x": [1.5], "y": [1.0]}, {"source": ["e"], "target": ["a"]}
    with ng.Store.init(tmp_path / "s", graph, labels, several_labels=True) as made:
        store = made
        assert isinstance(store, SeveralLabelsStore)
        before = newest(store)[1]
        preview = store.preview_grow(*new)
        assert (preview.compared, store.newest) == (4, 1)
        assert store.grow(*new).detail["added"] == 1
        larger = store.predict(["e"], version=2)
        assert larger.probabilities.shape == (1, 2)
        with pytest.raises(UnknownNodeError):
            store.predict(["e"], version=1)
        store.label({"left": ["e"]})
        with ng.Store.open(store.place) as other:
            assert isinstance(other, SeveralLabelsStore)
            assert np.array_equal(newest(other)[1], newest(store)[1])
        store.undo()
        assert np.array_equal(store.predict(["e"], version=4).probabilities, larger.probabilities)
        store.undo(2)
        assert np.array_equal(newest(store)[1], before)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "sgc-mean"}, "The method sgc-mean is not supported"),
        ({"several_labels": "yes"}, "several_labels"),
        ({"world": "open"}, "open or closed world is not supported"),
        ({"parents": {"warm": "big"}}, "class tree is not supported"),
        ({"parameters": {"hoops": 1}}, "hoops"),
    ],
)
def test_options_that_have_no_meaning_are_refused(
    tmp_path: Path, options: dict[str, Any], says: str
) -> None:
    with pytest.raises(NodegraftError, match=says):
        ng.Store.init(tmp_path / "s", GRAPH, LABELS, **{"several_labels": True} | options)
    assert not (tmp_path / "s").exists()


def test_a_graph_without_features_is_refused(tmp_path: Path) -> None:
    graph = Graph(["a", "b"], np.zeros((2, 0)))
    with pytest.raises(DataError, match="has none"):
        ng.Store.init(tmp_path / "s", graph, {"x": ["a"]}, several_labels=True)


def test_parameters_are_those_of_the_model(tmp_path: Path) -> None:
    options: dict[str, Any] = {"parameters": {"hops": 1}, "several_labels": True}
    with ng.Store.init(tmp_path / "s", GRAPH, LABELS, **options) as store:
        store.add({"new": ["n1"]})
        model: Callable[..., Any] = store.state(2).model  # type: ignore[assignment]
    assert model.get_params()["hops"] == 1  # type: ignore[attr-defined]
