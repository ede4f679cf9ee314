"""Labels by keys, looked up in a graph."""

import numpy as np
import pytest

from nodegraft.base.errors import MissingLabelsError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keyed_labels import KeyedLabels

GRAPH = Graph([10, 20, 30, 40], np.eye(4, dtype=np.float32), [(10, 20)])


def test_rows_are_those_of_each_class_in_its_order() -> None:
    keys = {"a": np.array([40, 10]), "none": np.zeros(0, dtype=np.int64), "b": np.array([30])}
    found = KeyedLabels(keys).on(GRAPH)
    assert {name: rows.tolist() for name, rows in found.items()} == {
        "a": [3, 0],
        "none": [],
        "b": [2],
    }
    assert KeyedLabels(keys).on(GRAPH, limit=1)["a"].tolist() == [3]


def test_no_class_has_no_rows() -> None:
    assert not KeyedLabels({}).on(GRAPH)


def test_the_class_of_missing_nodes_is_named_and_no_other() -> None:
    labels = KeyedLabels({"a": np.array([10]), "b": np.array([99, 20, 98]), "c": np.array([97])})
    with pytest.raises(MissingLabelsError, match="'b'") as caught:
        labels.on(GRAPH)
    assert "97" not in str(caught.value)
