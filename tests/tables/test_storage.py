import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.files.bundle import ARRAYS, read_bundle, write_bundle
from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.tables.storage import load_graph, load_graph_and_document, save_graph

X = np.array([[1.5, 0.0], [0.0, -2.0], [0.0, 0.0]], dtype=np.float32)


@pytest.mark.parametrize("keys", [["é日", "", "a"], [7, -3, 2**62]], ids=["text", "integers"])
@pytest.mark.parametrize(
    "features",
    [X, X.astype(np.float16), csr_array(X), np.zeros((3, 0))],
    ids=["dense", "half", "sparse", "no columns"],
)
def test_a_graph_comes_back_as_it_was(keys: list[Any], features: Matrix, tmp_path: Path) -> None:
    graph = Graph(keys, features, [(keys[0], keys[2])])
    save_graph(graph, tmp_path / "graph", {"note": ["é"]})
    back, document = load_graph_and_document(tmp_path / "graph")
    assert back.content_hash == graph.content_hash
    assert back.keys_of(range(3)) == keys
    assert back.rows_of(keys[::-1]).tolist() == [2, 1, 0]
    assert back._features.dtype == graph._features.dtype
    assert type(back._store.feature_matrix) is type(graph._store.feature_matrix)
    assert back._adjacency.indices.dtype == np.int32
    assert document == {"note": ["é"]}


def test_kinds_weights_and_directions_come_back(tmp_path: Path) -> None:
    kinds: dict[str, Any] = {
        "é.0": Relation([("a", "b"), ("c", "b")], directed=True),
        "like": Relation([("a", "b"), ("a", "c")], weights=[0.1, 7]),
        "none": Relation([], directed=True),
        "near": [("b", "c")],
    }
    graph = Graph(["a", "b", "c"], X, kinds)
    save_graph(graph, tmp_path / "graph")
    back = load_graph(tmp_path / "graph")
    assert back.content_hash == graph.content_hash
    assert back.relations == tuple(kinds)
    assert [back.is_directed(name) for name in kinds] == [True, False, True, False]
    for name in kinds:
        found, truth = back._store.adjacency(name), graph._store.adjacency(name)
        for part in ("weights", "directions"):
            one, other = getattr(found, part), getattr(truth, part)
            assert (one is None) == (other is None)
            assert one is None or (one.tolist(), one.dtype) == (other.tolist(), other.dtype)


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("weights", np.array([1, -1], dtype=np.float32)),
        ("weights", np.ones(3, dtype=np.float32)),
        ("directions", np.ones(1, dtype=np.uint8)),
        ("indices", np.array([1, 3], dtype=np.int32)),
        ("indptr", np.array([0, 1, 1, 2], dtype=np.int64)),
    ],
)
def test_edges_that_do_not_fit_are_refused(part: str, values: Any, tmp_path: Path) -> None:
    arrays, document = read_bundle(saved(tmp_path))
    write_bundle(tmp_path / "other", {**arrays, f"edges.0.{part}": values}, document)
    with pytest.raises(CheckpointError, match=r"whole graph: .* adjacency"):
        load_graph(tmp_path / "other")


@pytest.mark.parametrize("keys", [[""], []])
def test_the_smallest_graphs_come_back(keys: list[str], tmp_path: Path) -> None:
    graph = Graph(keys, np.ones((len(keys), 1)))
    save_graph(graph, tmp_path / "graph")
    assert load_graph(tmp_path / "graph").content_hash == graph.content_hash


def test_a_folder_that_exists_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="already exists"):
        save_graph(Graph(["a"], np.ones((1, 1))), tmp_path)
    assert list(tmp_path.iterdir()) == []


def saved(folder: Path) -> Path:
    save_graph(Graph(["a", "b", "c"], X, [("a", "b")]), folder / "graph")
    return folder / "graph"


@pytest.mark.parametrize("place", [20, -1, -30, -60])
def test_a_flipped_bit_is_noticed(place: int, tmp_path: Path) -> None:
    file = saved(tmp_path) / ARRAYS
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(CheckpointError):
        load_graph(tmp_path / "graph")


def test_a_file_cut_short_is_noticed(tmp_path: Path) -> None:
    file = saved(tmp_path) / ARRAYS
    os.truncate(file, file.stat().st_size - 3)
    with pytest.raises(CheckpointError, match="cannot be read"):
        load_graph(tmp_path / "graph")


@pytest.mark.parametrize(
    ("lost", "header", "message"),
    [
        ("edges.0.indptr", {}, "whole graph: 'indptr'"),
        ("", {"relations": ["edges", "more"]}, "whole graph: 'indptr'"),
        ("", {"relations": []}, "whole graph: A graph needs at least one edge type"),
        ("features", {}, "whole graph: 'features.data'"),
        ("keys.ends", {}, "whole graph: 'ends'"),
        ("", {"kind": "model"}, "does not hold a graph of schema 3"),
        ("", {"schema": 2}, "does not hold a graph of schema 3"),
        ("", {"schema": 5}, "does not hold a graph of schema 3"),
    ],
)
def test_what_is_no_graph_is_refused(
    lost: str, header: dict[str, Any], message: str, tmp_path: Path
) -> None:
    arrays, document = read_bundle(saved(tmp_path))
    arrays.pop(lost, None)
    write_bundle(tmp_path / "other", arrays, {**document, **header})
    with pytest.raises(CheckpointError, match=message):
        load_graph(tmp_path / "other")


def test_parts_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    arrays, document = read_bundle(saved(tmp_path))
    write_bundle(tmp_path / "other", {**arrays, "features": X[:2]}, document)
    with pytest.raises(CheckpointError, match="3 keys, 2 feature rows"):
        load_graph(tmp_path / "other")


def test_only_a_whole_graph_can_be_saved(tmp_path: Path) -> None:
    graph = Graph(range(3), np.eye(3), [(0, 1)])
    with pytest.raises(ParameterError, match=r"whole nodegraft\.Graph is needed, not a GraphView"):
        save_graph(graph.view(np.array([0, 1])), tmp_path / "part")  # type: ignore[arg-type]
