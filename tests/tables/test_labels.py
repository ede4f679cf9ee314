"""Labels in every form that people have them in."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch

from nodegraft.base.errors import ClassNameError, NodegraftError, ParameterError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keyed_labels import labels_from_numbers
from nodegraft.graph.labels import NodeLabels
from nodegraft.tables.labels import hold_out, keys_by_class, read_labels

TRUTH = {"hats": ["a", "d"], "shoes": ["b"]}
COLUMNS = {"key": ["a", "b", "c", "d"], "label": ["hats", "shoes", None, "hats"]}


def small_graph() -> Graph:
    return Graph(["a", "b", "c", "d"], np.eye(4))


def test_a_dict_stays_as_it_is() -> None:
    assert keys_by_class(TRUTH) is TRUTH


def test_a_table_is_read_by_its_columns() -> None:
    assert keys_by_class(pa.table(COLUMNS)) == TRUTH
    assert keys_by_class(pa.table(COLUMNS).slice(0, 0)) == {}


def test_a_row_that_comes_twice_is_one_label() -> None:
    table = pa.concat_tables([pa.table(COLUMNS), pa.table(COLUMNS)])
    assert keys_by_class(table) == TRUTH
    assert list(read_labels(table, small_graph())["hats"]) == ["a", "d"]


def test_numbers_in_a_table_are_keys_and_names() -> None:
    table = pa.table({"key": [4, 5, 6], "label": [1.0, float("nan"), 2.0]})
    assert keys_by_class(table) == {"1": [4], "2": [6]}


@pytest.mark.parametrize("kind", ["str", "object", "category"])
def test_a_series_is_read_by_its_index(kind: str) -> None:
    pandas = pytest.importorskip("pandas")
    series = pandas.Series(COLUMNS["label"], index=COLUMNS["key"], dtype=kind)
    assert keys_by_class(series) == TRUTH


def test_a_data_frame_is_a_table_whatever_its_index_is() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(COLUMNS)
    assert keys_by_class(frame) == keys_by_class(frame.set_index("key")) == TRUTH
    assert keys_by_class(frame[frame.label == "shoes"]) == {"shoes": ["b"]}


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (["a", "b"], "Labels are a dict, .* A list was given"),
        (7, "Labels are a dict, .* A int was given"),
        (pa.table({"id": ["a"], "label": ["x"]}), "needs the columns 'key' and 'label'; .* id, la"),
        (pa.table({"key": [None], "label": ["x"]}), "no value missing"),
        (NodeLabels({"hats": [0]}), "by row, and keys are needed"),
    ],
)
def test_other_things_are_refused_in_words(labels: Any, message: str) -> None:
    with pytest.raises(NodegraftError, match=message):
        keys_by_class(labels)


@pytest.mark.parametrize(
    "y",
    [[0, 1, -1, 0], np.array([0, 1, np.nan, 0]), torch.tensor([0, 1, -1, 0])],
    ids=["list", "array", "tensor"],
)
def test_class_numbers_are_labels_of_rows(y: Any) -> None:
    numbered = labels_from_numbers(y, small_graph())
    assert {name: keys.tolist() for name, keys in numbered.items()} == {
        "0": ["a", "d"],
        "1": ["b"],
    }
    for names in (["hats", "shoes"], {0: "hats", 1: "shoes"}):
        labels = labels_from_numbers(y, small_graph(), names)
        assert {name: keys.tolist() for name, keys in labels.items()} == TRUTH
    assert labels_from_numbers(y, small_graph(), ["wear", "wear"])["wear"].size == 3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], r"each of the 4 nodes is needed; y has shape \(2,\)"),
        ([[0], [1], [0], [1]], r"shape \(4, 1\)"),
        ([0, 1, 0.5, 1], "row 2 has 0.5"),
        ([0, 1, -2, 1], "row 2 has -2"),
        ([0, np.inf, 1, 1], "row 1 has inf"),
        (["x", "y", "x", "y"], "must hold class numbers"),
        ([0, 1, 2, 0], "y has class 2, which names does not name: it has 2 names"),
    ],
)
def test_numbers_that_are_no_classes_are_told(y: list[Any], message: str) -> None:
    with pytest.raises(NodegraftError, match=message):
        labels_from_numbers(y, small_graph(), ["hats", "shoes"])


def test_a_share_of_each_class_is_held_out() -> None:
    taught, checking = hold_out({"hats": range(50), "caps": range(100, 110), "one": [200]})
    assert {name: len(keys) for name, keys in checking.items()} == {"hats": 10, "caps": 2}
    assert len(taught["one"]) == 1
    assert sorted(taught["hats"] + checking["hats"]) == list(range(50))
    assert hold_out({"hats": range(50)}, share=0.99)[0]["hats"]


def test_who_is_held_out_depends_on_keys_and_seed_alone() -> None:
    keys = [f"p{number}" for number in range(200)]
    _, first = hold_out({"hats": keys})
    assert hold_out({"hats": keys[::-1]})[1] == first
    assert hold_out(pa.table({"key": keys, "label": ["hats"] * 200}))[1] == first
    assert hold_out({"hats": keys}, seed=1)[1] != first
    _, grown = hold_out({"hats": [*keys, *(f"q{number}" for number in range(20))]})
    stayed = set(first["hats"]) & set(grown["hats"])
    assert len(stayed) >= 0.9 * len(first["hats"])


def test_a_class_without_nodes_and_a_share_of_nothing_are_refused() -> None:
    with pytest.raises(ClassNameError, match="has no nodes"):
        hold_out({"hats": []})
    for share in (0.0, 1.0):
        with pytest.raises(NodegraftError, match="share"):
            hold_out({"hats": ["a"]}, share)


def test_the_name_of_a_column_is_text() -> None:
    graph, labels = Graph(["a"], np.ones((1, 1))), {"key": ["a"], "label": ["hats"]}
    column: Any = ["key"]
    with pytest.raises(ParameterError, match="key must be text"):
        read_labels(labels, graph, key=column)
    with pytest.raises(ParameterError, match="label must be text"):
        read_labels(labels, graph, label=column)
