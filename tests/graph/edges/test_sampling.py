"""Sampled neighbours: real edges, none twice, uniform, and the same wherever they are drawn."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare

from nodegraft.base.errors import ParameterError
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.sampling import ALL, NeighbourSampler
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.grown import GrownAdjacency
from nodegraft.graph.sampled_view import SampledView
from nodegraft.tables.disk.save import save_mapped


def random_graph(nodes: int = 300, edges: int = 2500, weighted: bool = False) -> Graph:
    draws = np.random.default_rng(4)
    source, target = draws.integers(nodes, size=(2, edges)) ** 2 // nodes
    weights = draws.uniform(0.5, 2, edges).astype(np.float32) if weighted else None
    adjacency = Adjacency.from_edges(source, target, nodes, weights=weights)
    return Graph.from_parts(
        Graph(list(range(nodes)), np.eye(nodes, 3), [])._store.keys,
        draws.normal(size=(nodes, 3)).astype(np.float32),
        adjacency,
    )


def sampled(graph: Graph, fan_out: int, epoch: int = 0, hop: int = 0) -> list[list[int]]:
    """The sampled neighbours of each node."""
    nodes = graph.rows
    sampler = NeighbourSampler((fan_out,) * 2, seed=3, epoch=epoch)
    counts, neighbours, _ = sampler.neighbours(graph._adjacency, nodes, hop)
    return [part.tolist() for part in np.split(neighbours, np.cumsum(counts)[:-1])]


@pytest.mark.parametrize("on_disk", [False, True], ids=["memory", "disk"])
def test_every_sampled_edge_exists_and_none_is_twice(on_disk: bool, tmp_path: Path) -> None:
    graph = random_graph()
    expected = sampled(graph, 5)
    if on_disk:
        graph = save_mapped(graph, tmp_path / "graph")
        assert sampled(graph, 5) == expected
    for row, some in enumerate(expected):
        _, neighbours = graph.neighbours([row])
        assert len(some) == min(5, neighbours.size)
        assert some == sorted(set(some))
        assert set(some) <= set(neighbours.tolist())
    assert max(graph.degrees(graph.rows)) > 50


def test_every_subset_of_neighbours_is_equally_likely() -> None:
    """Chi-square over all 20 subsets of three of six neighbours, drawn for 8,000 epochs."""
    star = Adjacency.from_edges(np.zeros(6, dtype=int), np.arange(1, 7), 7)
    node = np.zeros(1, dtype=np.int64)
    subsets = Counter(
        tuple(NeighbourSampler((3,), epoch=epoch).neighbours(star, node, 0)[1].tolist())
        for epoch in range(8000)
    )
    assert len(subsets) == 20
    assert chisquare(list(subsets.values())).pvalue > 0.01


@pytest.mark.parametrize("hop", [0, 1])
def test_neighbours_are_uniform_over_nodes(hop: int) -> None:
    """Chi-square of how often each place of a list of 40 is drawn, over 20,000 nodes at once."""
    sizes = 20_000
    ends = np.arange(sizes + 1) * 40
    edges = Adjacency(ends, np.tile(np.arange(40), sizes))
    sampler = NeighbourSampler((7, 7), seed=1)
    _, neighbours, _ = sampler.neighbours(edges, np.arange(sizes), hop)
    assert neighbours.size == 7 * sizes
    assert chisquare(np.bincount(neighbours)).pvalue > 0.01


def test_draws_differ_by_seed_epoch_and_hop_but_not_by_batch() -> None:
    graph = random_graph()
    first = sampled(graph, 5)
    assert first == sampled(graph, 5)
    assert first != sampled(graph, 5, epoch=1)
    assert first != sampled(graph, 5, hop=1)
    some = np.array([200, 7, 31])
    sampler = NeighbourSampler((5, 5), seed=3)
    counts, neighbours, _ = sampler.neighbours(graph._adjacency, some, 0)
    parts = [part.tolist() for part in np.split(neighbours, np.cumsum(counts)[:-1])]
    assert parts == [first[row] for row in some]


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_the_estimate_of_a_product_is_unbiased(weighted: bool) -> None:
    graph = random_graph(weighted=weighted)
    rows = np.arange(0, 300, 7)
    exact = graph.neighbourhood(rows, 1)
    wanted = exact.hops[0].matrix @ exact.features.matrix
    draws = []
    for epoch in range(400):
        part = SampledView(graph, 10, 4, seed=2, epoch=epoch).neighbourhood(rows, 1)
        draws.append(part.hops[0].matrix @ part.features.matrix)
    errors = (np.mean(draws, axis=0) - wanted) / np.maximum(np.std(draws, axis=0) / 20, 1e-6)
    # In standard errors of the mean; 0.8 is expected of normal errors.
    assert np.abs(errors).mean() < 1.2


@pytest.mark.parametrize("fan_out", [ALL, 10_000])
def test_a_fan_out_over_all_neighbours_is_the_exact_neighbourhood(fan_out: int) -> None:
    graph = random_graph(weighted=True)
    rows = np.array([3, 50, 299])
    exact, ours = (
        view.neighbourhood(rows, 2) for view in (graph, SampledView(graph, 2, fan_out, seed=0))
    )
    for mine, other in zip(ours.rings, exact.rings, strict=True):
        np.testing.assert_array_equal(mine, other)
    for part, whole in zip(ours.hops, exact.hops, strict=True):
        np.testing.assert_array_equal(part.coordinates, whole.coordinates)
        np.testing.assert_array_equal(part.matrix.data, whole.matrix.data)


def test_a_grown_graph_is_sampled_like_one_built_at_once() -> None:
    graph = random_graph(weighted=True)
    pairs = [(0, 299), (5, 120), (7, 8)]
    grown = graph.grow([], np.zeros((0, 3), dtype=np.float32), pairs)
    edges = grown._adjacency
    assert isinstance(edges, GrownAdjacency)
    sampler, nodes = NeighbourSampler((4,)), grown.rows
    ours = sampler.neighbours(edges, nodes, 0)
    whole = sampler.neighbours(edges.whole, nodes, 0)
    for mine, other in zip(ours, whole, strict=True):
        np.testing.assert_array_equal(mine, other)


def test_a_fan_out_below_minus_one_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"-1 for all neighbours, and not \[5, -2\]"):
        NeighbourSampler((5, -2))


@pytest.mark.parametrize(("name", "number"), [("seed", -1), ("seed", 1 << 63), ("epoch", -2)])
def test_a_seed_or_epoch_that_is_no_63_bit_number_is_refused(name: str, number: int) -> None:
    with pytest.raises(ParameterError, match=rf"The {name} of a sampler is .* not {number}\."):
        NeighbourSampler((5,), **{name: number})
