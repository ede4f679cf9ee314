"""Keys keep their type: 007 and 7 are two nodes, in every table and wherever a key is typed."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from nodegraft.base.errors import DataError, ParameterError, UnknownNodeError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys, integer_key
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.labels import read_labels
from nodegraft.tables.read import grow_graph, read_tables

NODES = "key,x\n7,1\n8,2\n12,4\n"
EDGES = "source,target\n7,8\n12,7\n"
LABELS = "key,label\n7,a\n8,b\n"


def written(folder: Path, **tables: str) -> dict[str, Any]:
    places = {name: folder / f"{name}.csv" for name in tables}
    for name, text in tables.items():
        places[name].write_text(text)
    return places


def keys_of(folder: Path, key_type: Any = None, **tables: str) -> list[Any]:
    files = written(folder, **{"nodes": NODES, "edges": EDGES, "labels": LABELS, **tables})
    graph = read_tables(**files, features="x", key_type=key_type, repair=True).graph
    return graph.keys_of(graph.rows)


def test_keys_are_integers_where_all_tables_agree(tmp_path: Path) -> None:
    assert keys_of(tmp_path) == [7, 8, 12]


@pytest.mark.parametrize("odd", ["007", "+7", " 7", "7 ", "7.0", "-0", "x", str(2**63)])
@pytest.mark.parametrize("table", ["nodes", "edges", "labels"])
def test_one_key_that_is_no_integer_makes_all_of_them_text(
    table: str, odd: str, tmp_path: Path
) -> None:
    whole = {"nodes": NODES, "edges": EDGES, "labels": LABELS}[table]
    more = {
        "nodes": f"{NODES}{odd},5\n",
        "edges": f"{EDGES}{odd},8\n",
        "labels": whole.replace("\n7,", f"\n{odd},"),
    }
    nodes = {"nodes": f"{NODES}{odd},5\n"} if table == "labels" else {}
    found = keys_of(tmp_path, **{**nodes, table: more[table]})
    assert found[:3] == ["7", "8", "12"]
    if table != "edges":
        assert found[3:] == [odd]


def test_both_ends_of_int64_are_integers(tmp_path: Path) -> None:
    nodes = f"{NODES}{2**63 - 1},1\n{-(2**63)},1\n0,1\n-5,1\n"
    assert keys_of(tmp_path, nodes=nodes)[3:] == [2**63 - 1, -(2**63), 0, -5]


def test_007_and_7_are_two_nodes(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        nodes="key,x\n7,1\n007,2\n",
        edges="source,target\n7,007\n",
        labels="key,label\n007,b\n7,a\n",
    )
    tables = read_tables(**files, features="x")
    assert (tables.graph.num_nodes, tables.graph.num_edges) == (2, 1)
    assert tables.labels is not None
    assert {name: keys.tolist() for name, keys in tables.labels.items()} == {
        "a": ["7"],
        "b": ["007"],
    }


def test_a_key_type_that_is_given_decides(tmp_path: Path) -> None:
    assert keys_of(tmp_path, "text") == ["7", "8", "12"]
    assert keys_of(tmp_path, "integer") == [7, 8, 12]
    with pytest.raises(DataError, match=r"Row 2 of .*edges\.csv has '012' in column 'source'"):
        keys_of(tmp_path, "integer", edges="source,target\n7,8\n012,7\n")
    with pytest.raises(ParameterError, match="key_type is 'text', 'integer' or None"):
        keys_of(tmp_path, "number")


def test_the_type_of_a_typed_table_decides(tmp_path: Path) -> None:
    typed = tmp_path / "nodes.parquet"
    pa.parquet.write_table(pa.table({"key": [7, 8, 12], "x": [1.0, 2.0, 4.0]}), typed)
    edges = written(tmp_path, edges=EDGES)["edges"]
    assert read_tables(typed, edges, features="x").graph.keys_of([0]) == [7]
    odd = written(tmp_path, odd="source,target\n7,08\n")["odd"]
    with pytest.raises(DataError, match=r"Row 1 of .* has '08' in column 'target'"):
        read_tables(typed, odd, features="x")
    tables = read_tables(typed, edges, features="x", key_type="text")
    assert tables.graph.keys_of([0]) == ["7"]
    assert tables.graph.num_edges == 2


def test_later_tables_follow_the_graph(tmp_path: Path) -> None:
    files = written(
        tmp_path,
        nodes=NODES,
        more="key,x\n13,1\n",
        joined="source,target\n13,7\n",
        padded="key,x\n013,1\n",
        classes="key,label\n08,a\n",
    )
    whole = read_tables(files["nodes"], features="x").graph
    text = read_tables(files["nodes"], features="x", key_type="text").graph
    assert grow_graph(whole, files["more"], files["joined"]).keys_of([3]) == [13]
    assert grow_graph(text, files["more"], files["joined"]).keys_of([3]) == ["13"]
    assert grow_graph(text, files["padded"]).keys_of([3]) == ["013"]
    with pytest.raises(DataError, match=r"Row 1 of .*padded\.csv has '013'"):
        grow_graph(whole, files["padded"])
    with pytest.raises(DataError, match=r"Row 1 of .*classes\.csv has '08'"):
        read_labels(files["classes"], whole)
    with pytest.raises(DataError, match=r"not in the table of nodes.*row 1: 08"):
        read_labels(files["classes"], text)
    numbers = pa.table({"key": [7], "label": ["a"]})
    with pytest.raises(DataError, match="keys of the nodes are text"):
        read_labels(numbers, text)
    assert read_labels(numbers, text, convert_keys=True)["a"].tolist() == ["7"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_graph_on_disk_has_the_same_keys(kind: str, tmp_path: Path) -> None:
    files = written(tmp_path, nodes=f"{NODES}007,5\n", edges="source,target\n7,007\n")
    if kind == "parquet":
        for name, columns in {
            "nodes": {"key": ["7", "8", "007"], "x": [1.0, 2.0, 3.0]},
            "edges": {"source": [7, 8], "target": [8, 7]},
        }.items():
            files[name] = tmp_path / f"{name}.parquet"
            pa.parquet.write_table(pa.table(columns), files[name])
    options: dict[str, Any] = {"features": "x", "key_type": "text" if kind == "parquet" else None}
    built = build_graph(files["nodes"], files["edges"], tmp_path / "built", **options).graph
    read = read_tables(files["nodes"], files["edges"], **options).graph
    assert built.keys_of(built.rows) == read.keys_of(read.rows)
    assert built.num_edges == read.num_edges == 1
    assert "007" in built.keys_of(built.rows)


def test_integers_on_disk_name_the_row_that_is_none(tmp_path: Path) -> None:
    nodes, edges = tmp_path / "nodes.parquet", tmp_path / "edges.parquet"
    pa.parquet.write_table(pa.table({"key": [7, 8], "x": [1.0, 2.0]}), nodes)
    pa.parquet.write_table(pa.table({"source": ["7", "07"], "target": ["8", "8"]}), edges)
    with pytest.raises(DataError, match=r"Row 2 of .*edges\.parquet has '07' in column 'source'"):
        build_graph(nodes, edges, tmp_path / "built", features="x", key_type="integer")


@pytest.mark.parametrize("text", ["007", "+7", " 7", "7\n", "1_000", "٣", "", "-0", str(2**63)])
def test_a_typed_key_is_an_integer_in_one_spelling_only(text: str) -> None:
    with pytest.raises(DataError, match="keys of this graph are integers"):
        integer_key(text)
    assert [integer_key(one) for one in ("0", "-7", str(-(2**63)))] == [0, -7, -(2**63)]


@pytest.mark.parametrize(
    ("keys", "asked", "types"),
    [
        (["7", "x"], 7, "of type text, and 7 is of type integer"),
        ([7, 8], "7", "of type integer, and '7' is of type text"),
    ],
)
def test_a_key_of_the_other_type_is_told_which_type_is_meant(
    keys: list[Any], asked: Any, types: str
) -> None:
    with pytest.raises(UnknownNodeError, match=types):
        NodeKeys(keys).rows([asked])
    with pytest.raises(UnknownNodeError, match=types):
        Graph(keys, np.eye(2)).rows_of(np.array([asked]))


def test_a_key_that_is_a_list_is_not_called_text() -> None:
    with pytest.raises(UnknownNodeError, match=r"\[7\] is of type list"):
        NodeKeys([7, 8]).rows([[7]])  # type: ignore[list-item]
