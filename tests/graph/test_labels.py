import numpy as np
import pytest

from nodegraft.base.errors import ClassNameError, HiddenNodeError, UnknownNodeError
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.graph.view import GraphView

LABELS = Labelled({"hats": [3, 1], "empty": [], "shoes": [2]})
GRAPH = Graph(["a", "b", "c", "d"], np.eye(4))


def plain(labels: Labelled) -> dict[str, list[int]]:
    return {name: rows.tolist() for name, rows in labels.items()}


def test_order_is_kept() -> None:
    assert LABELS.classes == ("hats", "empty", "shoes")
    assert LABELS.rows().tolist() == [3, 1, 2]
    assert LABELS.num_nodes == 3
    assert LABELS.targets(["shoes", "empty", "hats"]).tolist() == [2, 2, 0]
    assert plain(LABELS.only(["shoes", "hats"])) == {"shoes": [2], "hats": [3, 1]}


def test_no_labels_are_labels_too() -> None:
    for none in (Labelled({}), Labelled.from_names([]), Labelled.from_names([None, None])):
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
        Labelled(rows)


def test_names_of_rows_become_sorted_classes() -> None:
    labels = Labelled.from_names(["b", None, "a", "b", ""])
    assert plain(labels) == {"a": [2], "b": [0, 3]}


def test_keys_are_looked_up() -> None:
    assert plain(Labelled.by_key(GRAPH, {"x": iter(["d", "a"])})) == {"x": [3, 0]}
    with pytest.raises(UnknownNodeError, match="'z'"):
        Labelled.by_key(GRAPH, {"x": ["z"]})
    with pytest.raises(HiddenNodeError):
        Labelled.by_key(GraphView(GRAPH, np.array([0])), {"x": ["d"]})


def test_two_are_joined_class_by_class() -> None:
    other = Labelled({"shoes": [7], "bags": [8]})
    joined = {"hats": [3, 1], "empty": [], "shoes": [2, 7], "bags": [8]}
    assert plain(LABELS | other) == joined
    with pytest.raises(ClassNameError, match="row 3"):
        LABELS | Labelled({"bags": [3]})


def test_labels_are_a_value() -> None:
    same = Labelled({"hats": np.array([3, 1], dtype=np.int32), "empty": [], "shoes": (2,)})
    assert same == LABELS
    assert len({same, LABELS}) == 1
    different = [
        Labelled({"hats": [1, 3], "empty": [], "shoes": [2]}),
        Labelled({"empty": [], "hats": [3, 1], "shoes": [2]}),
        Labelled({"hats": [3], "empty": [1], "shoes": [2]}),
        Labelled({"caps": [3, 1], "empty": [], "shoes": [2]}),
    ]
    assert LABELS not in different
    assert len({labels.content_hash for labels in (LABELS, *different)}) == 5
    assert LABELS != {"hats": [3, 1]}


def test_what_was_given_can_be_changed_without_harm() -> None:
    rows = np.array([1, 2])
    labels = Labelled({"x": rows})
    rows[0] = 9
    assert labels["x"].tolist() == [1, 2]
