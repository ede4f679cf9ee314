import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import DataError
from nodegraft.lab.datasets.templates.text_graph import TextNode, in_large_classes, text_graph

KINDS = {"on": True, "by": False}
RECORDS = [
    TextNode("a", "x", "a red hat", {"on": ["b", "a", "nobody"]}),
    TextNode("b", "x", "red hats and a red hat", {"by": ["a"]}),
    TextNode("c", "y", "red", {"on": ["b"]}),
    TextNode("d", "z", "", {}),
    TextNode("e", "x", "hat", {}),
]


def test_a_row_depends_on_its_own_text_alone() -> None:
    graph, _ = text_graph(RECORDS, KINDS)
    rows = csr_array(graph.features(np.arange(5))).toarray()
    assert rows[0] == pytest.approx([0.5**0.5, 0.5**0.5])
    assert rows[1] == pytest.approx([0.2**0.5, 0.8**0.5])
    assert rows[3].tolist() == [0, 0]


def test_stop_words_are_left_out() -> None:
    graph, _ = text_graph([TextNode(key, "x", "the hat of and", {}) for key in "abc"], KINDS)
    assert graph.num_features == 1


def test_links_are_undirected_once_and_within() -> None:
    graph, labels = text_graph(RECORDS, KINDS)
    assert np.stack(graph.edges(), axis=1).tolist() == [[0, 1], [1, 2]]
    assert [graph.edges_of(kind)[0].size for kind in graph.relations] == [2, 1]
    assert {name: graph.keys_of(rows) for name, rows in labels.items()} == {
        "x": ["a", "b", "e"],
        "y": ["c"],
        "z": ["d"],
    }


def test_small_and_unwanted_classes_go() -> None:
    assert [record.key for record in in_large_classes(RECORDS, 2)] == ["a", "b", "e"]
    assert [record.key for record in in_large_classes(RECORDS, 1, ["x"])] == ["c", "d"]


def test_no_large_class_is_an_error() -> None:
    with pytest.raises(DataError, match="No class has 4 nodes: lower smallest_class"):
        in_large_classes(RECORDS, 4)
