"""The sampler behind PyG's NodeLoader."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.loader import NodeLoader
from torch_geometric.sampler import EdgeSamplerInput, NodeSamplerInput

from nodegraft.base.errors import HiddenNodeError, ParameterError
from nodegraft.graph.pyg_sampler import PyGNeighbourSampler
from nodegraft.tables.disk.save import save_mapped
from tests.graph.edges.test_sampling import random_graph


def batches(graph: Any, workers: int = 0, epoch: int = 2, first: int = 0) -> list[Any]:
    sampler = graph.to_pyg_sampler([4, 3], seed=9)
    sampler.set_epoch(epoch)
    seeds = torch.arange(0, 120)[first:]
    loader = NodeLoader(
        graph.to_pyg_stores(), sampler, input_nodes=seeds, batch_size=30, num_workers=workers
    )
    return list(loader)


def check_equal(ours: list[Any], others: list[Any]) -> None:
    assert len(ours) == len(others)
    for mine, other in zip(ours, others, strict=True):
        for name in ("n_id", "edge_index", "x"):
            assert torch.equal(mine[name], other[name])


@pytest.mark.filterwarnings("ignore:This DataLoader will create")
@pytest.mark.parametrize("workers", [1, 4])
def test_batches_do_not_depend_on_workers(workers: int) -> None:
    graph = random_graph()
    check_equal(batches(graph, workers), batches(graph))


def test_batches_after_a_resume_are_those_of_an_uninterrupted_run() -> None:
    graph = random_graph()
    check_equal(batches(graph, first=60), batches(graph)[2:])
    assert not torch.equal(batches(graph, epoch=3)[0].n_id, batches(graph)[0].n_id)


def test_batches_of_a_graph_on_disk_are_those_in_memory(tmp_path: Path) -> None:
    graph = random_graph()
    check_equal(batches(save_mapped(graph, tmp_path / "graph")), batches(graph))


def test_a_batch_has_its_seeds_first_real_edges_and_features() -> None:
    graph = random_graph()
    for number, batch in enumerate(batches(graph)):
        assert batch.n_id[: batch.batch_size].tolist() == list(range(30 * number, 30 * number + 30))
        assert batch.n_id.unique().numel() == batch.n_id.numel() == sum(batch.num_sampled_nodes)
        np.testing.assert_array_equal(batch.x, graph.features(batch.n_id.numpy()))
        source, target = batch.n_id[batch.edge_index].tolist()
        pairs = list(zip(source, target, strict=True))
        assert len(set(pairs)) == len(pairs) == sum(batch.num_sampled_edges)
        for one, other in pairs:
            assert one in graph.neighbours([other])[1]


def test_all_neighbours_are_the_subgraph_of_two_hops() -> None:
    graph = random_graph()
    sampler = graph.to_pyg_sampler([-1, -1])
    out = sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([3, 250])))
    inner = {3, 250, *graph.neighbours([3, 250])[1].tolist()}
    outer = inner | set(graph.neighbours(sorted(inner))[1].tolist())
    assert out.node.tolist()[:2] == [3, 250]
    assert set(out.node.tolist()) == outer
    edges = {(int(out.node[a]), int(out.node[b])) for a, b in zip(out.row, out.col, strict=True)}
    assert edges == {(int(x), node) for node in inner for x in graph.neighbours([node])[1]}


def test_hidden_nodes_are_not_sampled() -> None:
    graph = random_graph()
    view = graph.view(np.arange(0, 300, 2))
    sampler = PyGNeighbourSampler(view, [5, 5])
    out = sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([0, 4, 8])))
    assert out.node.numel() > 10
    assert not (out.node % 2).any()
    with pytest.raises(HiddenNodeError):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([1])))


def test_wrong_seeds_are_refused() -> None:
    sampler = random_graph().to_pyg_sampler([2])
    with pytest.raises(ParameterError, match="must be unique"):
        sampler.sample_from_nodes(NodeSamplerInput(None, torch.tensor([1, 1])))
    with pytest.raises(ParameterError, match="NodeLoader"):
        sampler.sample_from_edges(EdgeSamplerInput(None, torch.tensor([0]), torch.tensor([1])))
