from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data, HeteroData

from nodegraft.base.errors import DataError
from nodegraft.graph.edges.entries import OUT
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from tests.graph.reference import dense, random_kinds, typed_graph, weights_in

X = torch.arange(6, dtype=torch.float32).reshape(3, 2)
# 0 -> 1 and 2 -> 1 of kind 4, 1 -> 0 of kind 7.
ENDS = torch.tensor([[0, 2, 1], [1, 1, 0]])
TYPES = torch.tensor([4, 4, 7])
WEIGHTS = torch.tensor([0.5, 2.0, 3.0], requires_grad=True)


def by_hand(**directed: bool) -> Graph:
    return Graph(
        range(3),
        X.numpy(),
        {
            "4": Relation([(0, 1), (2, 1)], [0.5, 2.0], directed.get("four", False)),
            "7": Relation([(1, 0)], [3.0], directed.get("seven", False)),
        },
    )


@pytest.mark.parametrize(
    ("directed", "wanted"),
    [
        (False, by_hand()),
        (True, by_hand(four=True, seven=True)),
        (["4"], by_hand(four=True)),
        ("7", by_hand(seven=True)),
        ([], by_hand()),
    ],
)
def test_types_and_weights_are_read(directed: Any, wanted: Graph) -> None:
    data = Data(x=X, edge_index=ENDS, edge_type=TYPES, edge_weight=WEIGHTS)
    assert Graph.from_pyg(data, directed=directed).content_hash == wanted.content_hash


def test_weights_need_no_types() -> None:
    data = Data(x=X, edge_index=ENDS[:, :2], edge_weight=WEIGHTS[:2])
    wanted = Graph(range(3), X.numpy(), Relation([(0, 1), (2, 1)], [0.5, 2.0], True))
    assert Graph.from_pyg(data, directed=True).content_hash == wanted.content_hash


def test_kinds_weights_and_directions_come_back() -> None:
    data = typed_graph().to_pyg()
    assert data.edge_type.dtype == data.edge_index.dtype == torch.int64
    back = Graph.from_pyg(data, directed=["2"])
    assert back.relations == ("0", "1", "2")
    assert np.array_equal(dense(back.features(back.rows)), dense(data.x))
    for name, kind in zip(back.relations, random_kinds().values(), strict=True):
        found = back._store.adjacency(name)
        assert np.array_equal(weights_in(found), weights_in(kind))
        assert np.array_equal(dense(found.along(OUT)), dense(kind.along(OUT)))
    assert [back.is_directed(name) for name in back.relations] == [False, False, True]


def test_edges_go_out_the_way_they_lead() -> None:
    cites = Relation([(0, 1), (2, 1), (1, 2)], directed=True)
    data = Graph(range(3), X.numpy(), {"cites": cites, "near": Relation([(0, 2)])}).to_pyg()
    assert data.edge_index.T.tolist() == [[0, 1], [1, 2], [2, 1], [0, 2], [2, 0]]
    assert data.edge_type.tolist() == [0, 0, 0, 1, 1]
    assert data.edge_weight is None


def test_one_plain_kind_has_neither_types_nor_weights() -> None:
    data = Graph(range(3), X.numpy(), [(0, 1)]).to_pyg()
    assert sorted(data.keys()) == ["edge_index", "x"]
    weighted = Graph(range(3), X.numpy(), Relation([(0, 1)], [2.5])).to_pyg()
    assert sorted(weighted.keys()) == ["edge_index", "edge_weight", "x"]
    assert weighted.edge_weight.tolist() == [2.5, 2.5]


def papers() -> HeteroData:
    data = HeteroData()
    data["paper"].x = X
    data["paper"].y = torch.tensor([7, 8, 9])
    data["paper", "cites", "paper"].edge_index = ENDS
    data["paper", "like", "paper"].edge_index = ENDS[:, :1]
    data["paper", "like", "paper"].edge_weight = WEIGHTS[:1]
    return data


def test_nodes_of_one_type_may_be_hetero_data() -> None:
    graph = Graph.from_pyg(papers(), ["a", "b", "c"], directed=["cites"])
    wanted = {
        "cites": Relation([("a", "b"), ("c", "b"), ("b", "a")], directed=True),
        "like": Relation([("a", "b")], [0.5]),
    }
    assert graph.content_hash == Graph(["a", "b", "c"], X.numpy(), wanted).content_hash


def with_authors() -> HeteroData:
    data = papers()
    data["author"].x = torch.eye(2)
    return data


def without(part: str) -> HeteroData:
    data = papers()
    if part == "x":
        del data["paper"].x
    elif part == "edge_index":
        del data["paper", "cites", "paper"].edge_index
    else:
        for kind in data.edge_types:
            del data[kind]
    return data


@pytest.mark.parametrize(
    ("data", "directed", "message"),
    [
        (with_authors(), False, "one type; this HeteroData has paper, author"),
        (without("x"), False, "HeteroData needs both x and edge_index"),
        (without("edge_index"), False, "HeteroData needs both x and edge_index"),
        (without("edges"), False, "HeteroData needs both x and edge_index"),
        (papers(), ["cite"], "no edge type 'cite' .* are cites, like"),
        (papers(), "cite", "no edge type 'cite' .* are cites, like"),
        (Data(x=X, edge_index=ENDS, edge_type=TYPES[:2]), False, "3 .* numbers in edge_type"),
        (
            Data(x=X, edge_index=ENDS, edge_type=TYPES, edge_weight=WEIGHTS[:2]),
            False,
            "3 edges need as many numbers in edge_weight",
        ),
        (Data(x=X, edge_index=ENDS, edge_weight=WEIGHTS[:2]), False, "3 edges need as many"),
        (Data(x=X, edge_index=ENDS, edge_weight=WEIGHTS - 0.5), False, "1 are not, such as 0.0"),
    ],
)
def test_kinds_that_make_no_graph_are_refused(
    data: Data | HeteroData, directed: Any, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        Graph.from_pyg(data, directed=directed)


def test_edges_of_no_type_at_all_are_one_kind() -> None:
    none = torch.zeros(2, 0, dtype=torch.int64)
    graph = Graph.from_pyg(Data(x=X, edge_index=none, edge_type=none[0]))
    assert (graph.relations, graph.num_edges) == (("0",), 0)
