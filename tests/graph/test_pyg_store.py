from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import FeatureStore, GraphStore

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from tests.graph.reference import dense, random_graph

KINDS: dict[str, Any] = {
    "cites": Relation([("a", "b"), ("c", "b")], directed=True),
    "alike": [("b", "c")],
}
GRAPH = Graph(["a", "b", "c"], np.arange(6, dtype=np.float32).reshape(3, 2), KINDS)
CITES, ALIKE = ("node", "cites", "node"), ("node", "alike", "node")


def as_lists(pair: tuple[torch.Tensor, torch.Tensor]) -> list[list[int]]:
    assert {part.dtype for part in pair} == {torch.int64}
    return [part.tolist() for part in pair]


def test_edges_are_read_in_every_layout() -> None:
    _, edges = GRAPH.to_pyg_stores()
    assert isinstance(edges, GraphStore)
    assert as_lists(edges.get_edge_index(CITES, "csr")) == [[0, 1, 1, 2], [1, 1]]
    assert as_lists(edges.get_edge_index(CITES, "csc")) == [[0, 2], [0, 0, 2, 2]]
    assert as_lists(edges.get_edge_index(CITES, "coo")) == [[0, 2], [1, 1]]
    assert as_lists(edges.get_edge_index(ALIKE, "csr")) == [[0, 0, 1, 2], [2, 1]]
    assert as_lists(edges.get_edge_index(ALIKE, "coo")) == [[1, 2], [2, 1]]
    with pytest.raises(KeyError):
        edges.get_edge_index(("node", "none", "node"), "csr")


def test_pyg_turns_layouts_by_itself() -> None:
    _, edges = GRAPH.to_pyg_stores()
    rows, columns, _ = edges.coo()
    assert set(zip(*as_lists((rows[ALIKE], columns[ALIKE])), strict=True)) == {(1, 2), (2, 1)}
    _, ends, _ = edges.csc()
    assert ends[CITES].tolist() == [0, 0, 2, 2]


@pytest.mark.parametrize("sparse", [True, False])
def test_features_are_read_by_rows(sparse: bool) -> None:
    graph = random_graph(sparse)
    features, _ = graph.to_pyg_stores()
    assert isinstance(features, FeatureStore)
    truth = torch.from_numpy(dense(graph.features(graph.rows)).astype(np.float32))
    for index in (None, slice(3, 9), torch.tensor([7, 2]), np.array([5])):
        found = features.get_tensor("node", "x", index=index)
        assert torch.equal(found, truth if index is None else truth[index])
    assert features["node", "x", torch.tensor([1])].shape == (1, 7)
    assert features.get_tensor_size("node", "x") == (40, 7)
    assert [one.attr_name for one in features.get_all_tensor_attrs()] == ["x"]


def test_nothing_is_written() -> None:
    features, edges = GRAPH.to_pyg_stores()
    with pytest.raises(ParameterError, match="immutable"):
        features.put_tensor(torch.zeros(3, 2), "node", "x", index=None)
    with pytest.raises(ParameterError, match="immutable"):
        edges.put_edge_index((torch.zeros(2), torch.zeros(2)), CITES, "coo")
