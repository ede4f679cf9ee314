"""Rows that are not in a graph: columns and edges are checked, and errors name rows."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import nodegraft as ng
from nodegraft.base.errors import DataError, ParameterError
from nodegraft.tables.new_rows import read_rows, rows_view
from tests.service.served import EDGES, NODES

GOOD = {"text": "felt brim", "price": 3.0, "edges": [{"target": "hats1"}]}


@pytest.fixture(scope="module")
def graph() -> ng.Graph:
    return ng.read_graph(pa.table(NODES), pa.table(EDGES), text="text", features="price")


def test_columns_become_features_by_the_recipe(graph: ng.Graph) -> None:
    view = rows_view(graph, [GOOD, {"text": None, "price": None, "key": "mine"}])
    assert view.names == ["row 1", "mine"]
    found: Any = view.features(view.new_rows)
    recipe: Any = graph.recipe
    table = pa.table({"text": ["felt brim", None], "price": [3.0, None]})
    assert np.array_equal(found.toarray(), recipe.transform(table).toarray())
    assert view.neighbours(view.new_rows)[0].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "No row"),
        (["hats"], "row 1"),
        ([GOOD, {"text": "a", "edges": []}], "missing columns: row 2: 'price'"),
        ([{**GOOD, "txt": "a"}], "row 1: 'txt'. Leave them out; a row may have 'edges', 'key'"),
        ([{**GOOD, "key": "hats2"}], "node of the graph: row 1: 'hats2'"),
        ([{**GOOD, "key": 7}], "row 1: 7"),
        ([{**GOOD, "key": "n"}, GOOD, {**GOOD, "key": "n"}], "row 3: 'n' as in row 1"),
        ([{**GOOD, "key": "row 2"}, GOOD], "row 2: 'row 2' as in row 1"),
        ([{**GOOD, "key": "\ud800"}], "keys that are no text"),
        ([{**GOOD, "text": "\ud800"}], "Column 'text' of the rows has no valid text"),
        ([{**GOOD, "price": "cheap"}], "must hold numbers"),
        ([GOOD, {**GOOD, "price": "cheap"}], "not all text or all numbers"),
        ([{**GOOD, "price": 10**400}], "Column 'price'"),
        ([{**GOOD, "text": "\ud800"}], "Column 'text'"),
        ([{**GOOD, "price": float("inf")}], "infinite"),
        ([{**GOOD, "edges": {"target": "hats1"}}], "row 1: `edges` must be a list"),
        ([GOOD, {**GOOD, "edges": [{"target": "nope"}]}], "not in the graph: row 2: 'nope'"),
        ([{**GOOD, "edges": [{"type": "needs", "target": "hats1"}]}], "none of edges"),
        ([{**GOOD, "edges": [{}]}], "needs either target or source"),
        ([{**GOOD, "edges": [{"target": "hats1", "source": "hats2"}]}], "either target or source"),
        ([{**GOOD, "edges": [{"target": True}]}], "target True is no node key"),
        ([{**GOOD, "edges": [{"to": "hats1"}]}], "must have the fields"),
        ([{**GOOD, "edges": [{"target": "hats1", "weight": 2}]}], "have no weights"),
        ([{**GOOD, "edges": [{"target": "hats1", "weight": -1}]}], "positive"),
        ([{**GOOD, "edges": [{"target": "hats1", "weight": 10**400}]}], "positive and finite"),
        ([{**GOOD, "edges": [{"target": "hats1", "weight": float("nan")}]}], "positive and finite"),
        ([{**GOOD, "edges": [{"target": "hats1", "weight": "1"}]}], "no number"),
    ],
)
def test_faults_are_named_with_their_rows(graph: ng.Graph, rows: Any, words: str) -> None:
    with pytest.raises(DataError, match=words.replace("[", "\\[")):
        rows_view(graph, rows)


def test_all_unknown_targets_are_counted(graph: ng.Graph) -> None:
    edges = [{"target": f"n{number}"} for number in range(8)]
    with pytest.raises(DataError, match=r"edges \(8\) to nodes .* 'n4' and 3 more"):
        rows_view(graph, [{**GOOD, "edges": edges}])


def test_a_graph_of_arrays_takes_a_list_of_numbers() -> None:
    graph = ng.Graph([1, 2], np.eye(2), [(1, 2)])
    view = rows_view(graph, [{"features": [0.5, 1.0], "edges": [{"target": 2}]}])
    assert view.features(view.new_rows).tolist() == [[0.5, 1.0]]
    for wrong in ([1.0], [1, 10**400]):
        with pytest.raises(DataError, match="list of 2 numbers"):
            rows_view(graph, [{"features": wrong}])
    with pytest.raises(ParameterError, match="whole"):
        rows_view(graph.view(np.array([0])), [{"features": [1.0, 0.0]}])


def test_a_file_of_rows_has_one_object_in_each_line(tmp_path: Path) -> None:
    file = tmp_path / "new.jsonl"
    file.write_text('{"text": "a"}\n\n{"text": "b"}\n')
    assert read_rows(file) == [{"text": "a"}, {"text": "b"}]
    file.write_text('{"text": "a"}\r\n', encoding="utf-8-sig", newline="")
    assert read_rows(file) == [{"text": "a"}]
    file.write_text('{"text": "a"}\n{"text": \n')
    with pytest.raises(DataError, match="Line 2"):
        read_rows(file)
    with pytest.raises(DataError, match="cannot be read"):
        read_rows(tmp_path / "none.jsonl")
