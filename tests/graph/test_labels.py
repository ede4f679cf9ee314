from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import ClassNameError, HiddenNodeError, ParameterError, UnknownNodeError
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels

LABELS = NodeLabels({"hats": [3, 1], "empty": [], "shoes": [2]})
GRAPH = Graph(["a", "b", "c", "d"], np.eye(4))


def plain(labels: NodeLabels) -> dict[str, list[int]]:
    return {name: rows.tolist() for name, rows in labels.items()}


def test_order_is_kept() -> None:
    assert LABELS.classes == ("hats", "empty", "shoes")
    assert LABELS.rows().tolist() == [3, 1, 2]
    assert LABELS.num_nodes == 3
    assert LABELS.targets(["shoes", "empty", "hats"]).tolist() == [2, 2, 0]
    assert plain(LABELS.select(["shoes", "hats"])) == {"shoes": [2], "hats": [3, 1]}


def test_no_labels_are_labels_too() -> None:
    for none in (NodeLabels({}), NodeLabels.from_names([]), NodeLabels.from_names([None, None])):
        assert (len(none), none.num_nodes, none.rows().size) == (0, 0, 0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"hats": [1, 2], "shoes": [2]}, "1 nodes .* row 2 under 'hats' and 'shoes'"),
        ({"hats": [1, 2, 1]}, "row 1 under 'hats': a node has one class"),
    ],
)
def test_a_node_in_two_classes_is_refused(rows: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ClassNameError, match=message):
        NodeLabels(rows)


def test_names_of_rows_become_sorted_classes() -> None:
    labels = NodeLabels.from_names(["b", None, "a", "b"])
    assert plain(labels) == {"a": [2], "b": [0, 3]}


@pytest.mark.parametrize("name", [1, None, "", " ", 1.5, True])
def test_class_names_are_text_that_is_not_empty(name: Any) -> None:
    """1 and "1" would become one class, None a class called "None"."""
    with pytest.raises(ClassNameError, match="text that is not empty"):
        NodeLabels({name: [0]})
    if name is not None:
        with pytest.raises(ClassNameError, match="text that is not empty"):
            NodeLabels.from_names(["b", name])


def test_keys_are_looked_up() -> None:
    found = NodeLabels.by_key(GRAPH, {"x": iter(["d", "a"])})
    assert sorted(found["x"]) == [0, 3]
    assert found == NodeLabels.by_key(GRAPH, {"x": ["a", "d"]})
    assert found == NodeLabels.by_key(GRAPH, {"x": np.array(["a", "d"], dtype=object)})
    with pytest.raises(UnknownNodeError, match="'z'"):
        NodeLabels.by_key(GRAPH, {"x": ["z"]})
    with pytest.raises(HiddenNodeError):
        NodeLabels.by_key(GRAPH.view(np.array([0])), {"x": ["d"]})


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"x": ["a"], "y": ["b", "a"]}, "Node 'a' is listed under 'x' and 'y'"),
        ({"x": ["b", "b"]}, "Node 'b' is listed under 'x' twice"),
    ],
)
def test_keys_listed_twice_are_named(keys: dict[str, list[str]], message: str) -> None:
    with pytest.raises(ClassNameError, match=message):
        NodeLabels.by_key(GRAPH, keys)


def test_a_text_where_a_list_of_nodes_is_meant_is_refused() -> None:
    with pytest.raises(
        ParameterError, match=r"nodes of class 'x' is needed, not 'a': write \['a'\]"
    ):
        NodeLabels.by_key(GRAPH, {"x": "a"})


def test_two_are_joined_class_by_class() -> None:
    other = NodeLabels({"shoes": [7], "bags": [8]})
    joined = {"hats": [3, 1], "empty": [], "shoes": [2, 7], "bags": [8]}
    assert plain(LABELS | other) == joined
    with pytest.raises(ClassNameError, match="row 3"):
        LABELS | NodeLabels({"bags": [3]})


def test_labels_are_a_value() -> None:
    same = NodeLabels({"hats": np.array([3, 1], dtype=np.int32), "empty": [], "shoes": (2,)})
    assert same == LABELS
    assert len({same, LABELS}) == 1
    different = [
        NodeLabels({"hats": [1, 3], "empty": [], "shoes": [2]}),
        NodeLabels({"empty": [], "hats": [3, 1], "shoes": [2]}),
        NodeLabels({"hats": [3], "empty": [1], "shoes": [2]}),
        NodeLabels({"caps": [3, 1], "empty": [], "shoes": [2]}),
    ]
    assert LABELS not in different
    assert len({labels.content_hash for labels in (LABELS, *different)}) == 5
    assert LABELS != {"hats": [3, 1]}


def test_what_was_given_can_be_changed_without_harm() -> None:
    rows = np.array([1, 2])
    labels = NodeLabels({"x": rows})
    rows[0] = 9
    assert labels["x"].tolist() == [1, 2]
