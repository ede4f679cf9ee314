"""Heat on a graph that has grown by little is that of the graph before, and one hop."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import Entries
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.grown import GrownAdjacency, combine, with_edges
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.graph.propagation.grown_diffusion import GrownDiffusion
from tests.graph.reference import random_edges

TIMES = (2.0, 8.0)
OLD = 400


def before(nodes: int = OLD, isolated: int = 0, weighted: bool = False) -> Adjacency:
    source, target = random_edges(nodes, 4 * nodes, 0)
    weights = np.ones(source.size, dtype=np.float32) if weighted else None
    return Adjacency.from_edges(source, target, nodes + isolated, weights=weights)


def grown(pairs: list[tuple[int, int]], num_nodes: int) -> GrownAdjacency:
    ends = np.array(pairs).reshape(-1, 2)
    rows, columns = np.concatenate((ends, ends[:, ::-1])).T
    found = with_edges(before(), Entries(rows, columns), num_nodes)
    assert found is not None
    return found


def heat(adjacency: GrownAdjacency) -> GrownDiffusion:
    return GrownDiffusion(Diffusion(adjacency.base, TIMES), adjacency)


def mass(
    diffusion: Diffusion | GrownDiffusion, start: list[int], nodes: list[int]
) -> NDArray[np.float32]:
    found: NDArray[np.float32] = diffusion.table([np.array(start)]).at(np.array(nodes))[0]
    return found


def test_old_nodes_keep_their_mass_and_new_ones_have_the_mean_of_their_neighbours() -> None:
    now = grown([(OLD, 3), (OLD, 7), (OLD + 1, OLD), (5, 9)], OLD + 3)
    kept, found = Diffusion(now.base, TIMES), heat(now)
    start, everyone = [0, 11], list(range(OLD))
    np.testing.assert_array_equal(mass(found, start, everyone), mass(kept, start, everyone))
    mean = mass(kept, start, [3, 7]).mean(axis=1)
    # The second hangs on the first, the third has no edges.
    new = mass(found, start, [OLD, OLD + 1, OLD + 2])
    np.testing.assert_allclose(new, np.stack((mean, mean, 0.0 * mean), axis=1), rtol=1e-6)
    table = found.table([np.array(start)])
    np.testing.assert_allclose(table.shares(np.arange(OLD + 3)).mean(axis=1), 1.0, rtol=1e-5)


def test_heat_from_a_label_on_a_new_node_starts_at_its_neighbours() -> None:
    now = grown([(OLD, 3), (OLD, 7)], OLD + 2)
    kept, found = Diffusion(now.base, TIMES), heat(now)
    everyone = list(range(OLD))
    halves = 0.5 * (mass(kept, [0], everyone) + mass(kept, [3, 7], everyone))
    np.testing.assert_allclose(mass(found, [0, OLD], everyone), halves, rtol=1e-4)
    # Half of it starts at the node itself, and some is still there.
    mean = halves[:, [3, 7]].mean(axis=1)
    stays = np.exp(-np.array(TIMES) * 2.0 / 3.0) / np.sqrt(3.0)
    new = mass(found, [0, OLD], [OLD])[:, 0]
    np.testing.assert_allclose(new, mean + 0.5 * stays, rtol=1e-4)


def test_heat_from_a_label_on_a_new_node_without_edges_stays_there() -> None:
    now = grown([(OLD, 3)], OLD + 2)
    found, everyone = heat(now), list(range(OLD))
    with_edge = mass(found, [0], everyone)
    table = found.table([np.array([0, OLD + 1])])
    # Compared with the mean, which includes what stays, there is half as much elsewhere.
    np.testing.assert_allclose(table.at(np.array(everyone))[0], with_edge, rtol=1e-6)
    there = table.shares(np.array([OLD + 1]))[:, 0, 0]
    assert (there > 100.0).all()
    np.testing.assert_allclose(table.shares(np.arange(OLD + 2)).mean(axis=1), 1.0, rtol=1e-5)
    nothing = found.table([np.array([OLD + 1])]).shares(np.arange(OLD))
    np.testing.assert_array_equal(nothing, 0.0)


def test_neighbours_by_heavy_edges_count_more() -> None:
    edges = Entries(
        np.array([OLD, 3, OLD, 7]),
        np.array([3, OLD, 7, OLD]),
        np.array([3.0, 3.0, 1.0, 1.0], dtype=np.float32),
    )
    now = with_edges(before(weighted=True), edges, OLD + 1)
    assert now is not None
    kept, found = Diffusion(now.base, TIMES), heat(now)
    mean = 0.75 * mass(kept, [0], [3]) + 0.25 * mass(kept, [0], [7])
    np.testing.assert_allclose(mass(found, [0], [OLD]), mean, rtol=1e-5)
    quarters = 0.75 * mass(kept, [3], [50, 60]) + 0.25 * mass(kept, [7], [50, 60])
    np.testing.assert_allclose(mass(found, [OLD], [50, 60]), quarters, rtol=1e-4)


def test_old_nodes_that_had_no_edges_are_like_new_ones() -> None:
    base = before(isolated=1)
    now = with_edges(base, Entries(np.array([OLD, 3]), np.array([3, OLD])), OLD + 1)
    assert now is not None
    kept, found = Diffusion(base, TIMES), heat(now)
    np.testing.assert_allclose(mass(found, [0], [OLD, 5]), mass(kept, [0], [3, 5]), rtol=1e-6)
    np.testing.assert_allclose(mass(found, [OLD], [5, 9]), mass(kept, [3], [5, 9]), rtol=1e-5)
    # In any order.
    np.testing.assert_array_equal(
        mass(found, [0], [OLD, 2, 5])[:, [1, 2, 0]], mass(found, [0], [2, 5, OLD])
    )


def test_a_chain_of_new_nodes_has_heat() -> None:
    now = grown([(3, OLD), *((OLD + one, OLD + one + 1) for one in range(9))], OLD + 10)
    found = mass(heat(now), [0], [3, OLD, OLD + 9])
    np.testing.assert_allclose(found, found[:, :1] * np.ones(3), rtol=1e-5)


def test_heavier_weights_are_no_small_growth() -> None:
    weighted = before(weighted=True)
    rows, columns, *_ = weighted.entries()
    for weight, small in ((1.0, True), (1.01, True), (3.0, False)):
        heavy = np.full(rows.size, weight, dtype=np.float32)
        now = with_edges(weighted, Entries(rows, columns, heavy), OLD)
        assert now is not None
        assert now.is_small_growth == small


def test_new_nodes_may_be_nearest() -> None:
    now = grown([(OLD, 3)], OLD + 1)
    [found] = heat(now).mass([np.array([3])])
    nodes, _ = found.nearest(np.array([3]), 20)
    assert OLD in nodes
    assert 3 not in nodes


def test_what_is_asked_again_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    found = heat(grown([(OLD, 3), (OLD, 7)], OLD + 1))
    starts = [np.array([0, OLD]), np.array([4])]
    first = found.table(starts, lasting=True)
    monkeypatch.setattr(Diffusion, "_pass", None)
    monkeypatch.setattr(GrownDiffusion, "_with_late", None)
    again = found.table(starts)
    np.testing.assert_array_equal(again.at(np.arange(OLD + 1)), first.at(np.arange(OLD + 1)))


def test_joined_edge_types_stay_on_the_edges_before() -> None:
    """Whether one follows the growth, or opens the graph later."""
    graph, _ = BlockModel(nodes=20_000, classes=4, seed=0).draw()
    kinds = {"one": graph._adjacency, "two": before(20_000)}
    graph = Graph.from_parts(graph.node_keys, graph._features, kinds)
    weights = {"one": 1.0, "two": 0.5}
    graph.weighing(weights).degrees(graph.rows)
    features = np.ones((2, graph.num_features), dtype=np.float32)
    keys = graph.node_keys.array_at(graph.rows[:2]).tolist()
    later = graph.grow(["a", "b"] if graph.has_text_keys else [90_000, 90_001], features)
    later = later.grow(edges={"two": [(keys[0], later.keys_of([20_000])[0])]})
    followed = later.weighing(weights)._adjacency
    opened = combine([later._store.adjacency(name) for name in kinds], list(weights.values()))
    for one in (followed, opened):
        assert isinstance(one, GrownAdjacency)
        assert one.is_small_growth
    assert isinstance(followed, GrownAdjacency)
    assert isinstance(opened, GrownAdjacency)
    np.testing.assert_array_equal(followed.nodes, opened.nodes)
    np.testing.assert_array_equal(followed.base.indices, opened.base.indices)
    np.testing.assert_array_equal(followed.indices, opened.indices)
    assert later.settled().weighing(weights)._adjacency.num_edges == followed.num_edges
    assert not isinstance(later.settled().weighing(weights)._adjacency, GrownAdjacency)
