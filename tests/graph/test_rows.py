from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import DataError, ParameterError, UnknownNodeError
from nodegraft.graph.edges.matrix import row_numbers
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.sgc_mean import SGCMean

GRAPH = Graph(range(10, 16), np.eye(6), [(10, 11), (12, 13)])
WRONG = [[True, False], [1.7], ["1"], [[1, 2]], 3, "ab", None]


@pytest.mark.parametrize("rows", WRONG)
def test_what_numpy_would_turn_into_row_numbers_is_refused(rows: Any) -> None:
    asked = (
        lambda: row_numbers(rows),
        lambda: GRAPH.view(np.asarray(rows)),
        lambda: GRAPH.features(rows),
        lambda: GRAPH.degrees(rows),
        lambda: NodeLabels({"a": rows}),
    )
    for ask in asked:
        with pytest.raises(ParameterError, match="flat list of row numbers"):
            ask()


def test_a_mask_is_told_what_to_do() -> None:
    with pytest.raises(ParameterError, match="flatnonzero"):
        GRAPH.view(np.array([True] * 6))


@pytest.mark.parametrize("row", [-1, 6])
def test_a_view_of_rows_that_do_not_exist_is_refused(row: int) -> None:
    with pytest.raises(UnknownNodeError):
        GRAPH.view(np.array([0, row]))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (np.array([[10], [11]]), "flat list"),
        ({10, 11}, "a set has no order"),
        ("ab", "list of node keys"),
        (5, "list of node keys"),
        (None, "list of node keys"),
    ],
)
def test_keys_are_a_flat_list(keys: Any, message: str) -> None:
    model = SGCMean().fit(GRAPH, {"a": [10, 11], "b": [12]})
    asked = (
        lambda: model.predict(GRAPH, keys),
        lambda: Graph(keys, np.eye(2)),
        lambda: GRAPH.grow(keys, np.eye(6)[:2]),
    )
    for ask in asked[int(keys is None) :]:
        with pytest.raises(ParameterError, match=message):
            ask()


def test_predictions_need_keys_or_rows() -> None:
    model = SGCMean().fit(GRAPH, {"a": [10, 11], "b": [12]})
    with pytest.raises(ParameterError, match=r"keys of nodes .* or rows"):
        model.predict(GRAPH, None)


def test_true_is_not_the_node_1() -> None:
    ones = Graph([0, 1], np.eye(2))
    for ask in (lambda: ones.rows_of([True]), lambda: Graph([True, 5], np.eye(2))):
        with pytest.raises(DataError, match="not true or false"):
            ask()
