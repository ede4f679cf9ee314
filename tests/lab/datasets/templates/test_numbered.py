import numpy as np
import pytest

from nodegraft.base.errors import DataError
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.templates.readers import NumberedNode, TypedEdge, typed_graph


def test_names_sort_as_the_ids_do() -> None:
    labels = NodeLabels.from_numbers(np.array([100, 9, 20, 9]))
    assert labels.classes == ("class-009", "class-020", "class-100")
    assert [rows.tolist() for rows in labels.values()] == [[1, 3], [2], [0]]


def test_an_edge_needs_both_ends_and_counts_once_a_kind() -> None:
    nodes = [NumberedNode(9, "x", "ignored"), NumberedNode(2, "y", ""), NumberedNode(5, "x", "")]
    edges = [
        TypedEdge(9, 2, "a", True),
        TypedEdge(2, 9, "b", False),
        TypedEdge(5, 4, "a", True),
        TypedEdge(5, 5, "a", True),
    ]
    graph, labels = typed_graph(nodes, np.eye(3), edges)
    assert [graph.keys_of(pair) for pair in zip(*graph.edges(), strict=True)] == [[9, 2]]
    assert [graph.edges_of(kind)[0].size for kind in graph.relations] == [1, 1]
    assert {name: rows.tolist() for name, rows in labels.items()} == {"x": [0, 2], "y": [1]}


def test_a_graph_may_have_no_edges() -> None:
    graph, _ = typed_graph([NumberedNode(1, "x", "")], np.eye(1), [])
    assert graph.num_edges == 0


def test_a_number_given_twice_is_refused() -> None:
    with pytest.raises(DataError, match="more than once: 1"):
        typed_graph([NumberedNode(1, "x", "")] * 2, np.eye(2), [])
