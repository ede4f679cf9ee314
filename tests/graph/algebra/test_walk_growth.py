"""Walks of a graph that has grown are those of the larger graph, to the bit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.graph.algebra import diffusion, walk_growth
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.diffusion import Diffusion
from nodegraft.graph.algebra.entries import both_ways
from nodegraft.graph.algebra.grown import GrownAdjacency, changed_rows, with_edges
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.graph.stores.shelf import Shelf

RESTARTS = (0.3, 0.1, 0.02)


@dataclass(frozen=True)
class Edges:
    ends: IntArray
    weights: NDArray[np.float32]
    nodes: int

    @classmethod
    def drawn(cls, draws: np.random.Generator, nodes: int, count: int) -> "Edges":
        weights = draws.uniform(0.1, 4.0, count).astype(np.float32)
        return cls(draws.integers(nodes, size=(2, count)), weights, nodes)

    def changed(self, draws: np.random.Generator, gone: float) -> "Edges":
        """Without some edges, and with a few others and up to two nodes more."""
        stay = draws.random(self.weights.size) >= gone
        more = Edges.drawn(draws, self.nodes + int(draws.integers(3)), int(draws.integers(1, 6)))
        ends = np.concatenate((self.ends[:, stay], more.ends), axis=1)
        return Edges(ends, np.concatenate((self.weights[stay], more.weights)), more.nodes)

    def beyond(self, earlier: "Edges", before: Adjacency) -> Adjacency:
        """The same as a graph makes it: changed rows lie apart."""
        known = earlier.weights.size
        weights = self.weights[known:] if before.is_weighted else None
        source, target = self.ends[:, known:]
        after = with_edges(before, both_ways(source, target, weights), self.nodes)
        assert isinstance(after, GrownAdjacency)
        return after

    def adjacency(self, weighted: bool) -> Adjacency:
        weights = self.weights if weighted else None
        source, target = self.ends
        return Adjacency.from_edges(source, target, self.nodes, weights=weights)


def walks_of(adjacency: Adjacency, sets: Sequence[IntArray]) -> Diffusion:
    walks = Diffusion(adjacency, RESTARTS, full_pass_entries=0)
    walks.table(sets, lasting=True)
    return walks


def grown(walks: Diffusion, before: Adjacency, after: Adjacency) -> Diffusion:
    changed = changed_rows(before, after, np.arange(after.num_nodes))
    return walks.grown(after, changed, Shelf())


def assert_same(ours: Diffusion, theirs: Diffusion, sets: Sequence[IntArray]) -> None:
    """What is there, and how it came about: the next growth begins with that."""
    pairs = zip(ours.table(sets)._reached, theirs.table(sets)._reached, strict=True)
    for one, other in pairs:
        for array, wanted in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, wanted)
    for start in sets:
        walk, wanted_walk = (some._followed[start.tobytes()] for some in (ours, theirs))
        np.testing.assert_array_equal(walk.nodes, wanted_walk.nodes)
        np.testing.assert_array_equal(walk.passing, wanted_walk.passing)


@pytest.mark.parametrize("gone", [0.0, 0.03], ids=["more edges", "others"])
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("share", [100.0, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_walks_after_growth_are_those_of_the_larger_graph(
    seed: int, share: float, weighted: bool, gone: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Step after step; whether walkers are followed far or given up next to their start."""
    draws = np.random.default_rng(seed)
    monkeypatch.setattr(walk_growth, "LARGEST_SHARE", share)
    monkeypatch.setattr(diffusion, "TOLERANCE", 10 ** draws.uniform(-3, 1))
    nodes = int(draws.integers(30, 200))
    edges = Edges.drawn(draws, nodes, int(draws.integers(nodes // 2, 4 * nodes)))
    sets = [np.sort(draws.choice(nodes, draws.integers(1, 8), replace=False)) for _ in range(10)]
    before = edges.adjacency(weighted)
    walks = walks_of(before, sets)
    for _ in range(3):
        more = edges.changed(draws, gone)
        after = more.adjacency(weighted) if gone else more.beyond(edges, before)
        edges = more
        walks, anew = grown(walks, before, after), walks_of(after, sets)
        assert_same(walks, anew, sets)
        before = after


def a_large_graph(nodes: int = 20_000) -> tuple[Edges, Sequence[IntArray]]:
    draws = np.random.default_rng(0)
    sets = [np.sort(draws.choice(nodes, 20, replace=False)) for _ in range(5)]
    return Edges.drawn(draws, nodes, 5 * nodes), sets


def test_most_of_a_walk_is_not_followed_again(touched: list[int]) -> None:
    edges, sets = a_large_graph()
    before = edges.adjacency(weighted=False)
    after = edges.changed(np.random.default_rng(1), gone=0.0).adjacency(weighted=False)
    walks = walks_of(before, sets)
    changed = changed_rows(before, after, np.arange(after.num_nodes))
    touched.clear()
    later = walks.grown(after, changed, Shelf())
    assert len(later._found) == len(sets)
    following = sum(touched)
    anew = walks_of(after, sets)
    assert 0 < 10 * following < sum(touched) - following
    assert_same(later, anew, sets)


def test_a_walk_of_which_much_differs_is_followed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    edges, sets = a_large_graph(1_000)
    before = edges.adjacency(weighted=False)
    after = edges.changed(np.random.default_rng(1), gone=0.0).adjacency(weighted=False)
    for share, kept in ((0.0, 0), (100.0, len(sets))):
        monkeypatch.setattr(walk_growth, "LARGEST_SHARE", share)
        later = grown(walks_of(before, sets), before, after)
        assert len(later._found) == kept
        assert_same(later, walks_of(after, sets), sets)


def test_walks_for_which_there_is_no_room_are_followed_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges, sets = a_large_graph(1_000)
    before = edges.adjacency(weighted=False)
    after = edges.changed(np.random.default_rng(1), gone=0.0).adjacency(weighted=False)
    monkeypatch.setattr(walk_growth, "LARGEST_SHARE", 100.0)
    sizes = [walk.passing.nbytes for walk in walks_of(before, sets)._followed.values()]
    monkeypatch.setattr(diffusion, "FOLLOWED_BYTES", sum(sizes[:2]))
    walks = walks_of(before, sets)
    assert list(walks._followed) == [start.tobytes() for start in sets[:2]]
    later = grown(walks, before, after)
    assert len(later._found) == 2
    wanted = walks_of(after, sets).table(sets)
    np.testing.assert_array_equal(later.table(sets).totals, wanted.totals)


def test_the_sets_of_a_model_find_the_room_that_earlier_ones_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    edges, sets = a_large_graph(1_000)
    walks = walks_of(edges.adjacency(weighted=False), sets)
    held = sum(walk.passing.nbytes for walk in walks._followed.values())
    monkeypatch.setattr(diffusion, "FOLLOWED_BYTES", int(1.2 * held))
    others = [start + 1 for start in sets[:-1]]
    walks.table(others, lasting=True)
    assert list(walks._followed) == [start.tobytes() for start in others]


def test_a_walk_may_become_longer_by_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    """By more than a step: there is no walk beside it that lasts as long."""
    monkeypatch.setattr(walk_growth, "LARGEST_SHARE", 100.0)
    monkeypatch.setattr(diffusion, "TOLERANCE", 0.3)
    hub = np.stack((np.zeros(60, dtype=np.int64), np.arange(1, 61)))
    before = Edges(hub, np.ones(60, dtype=np.float32), 62)
    after = Edges(hub[:, :1], np.ones(1, dtype=np.float32), 62)
    sets = [np.array([0])]
    small, large = (edges.adjacency(weighted=False) for edges in (after, before))
    walks, anew = walks_of(large, sets), walks_of(small, sets)
    lengths = [some._followed[sets[0].tobytes()].passing.shape[1] for some in (walks, anew)]
    assert lengths[1] > lengths[0] + 1
    assert_same(grown(walks, large, small), anew, sets)


def test_walkers_that_a_small_number_cannot_hold_are_still_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From one node with very many edges, after it has got one more."""
    monkeypatch.setattr(walk_growth, "LARGEST_SHARE", 100.0)
    others = np.arange(1, 30_001)
    ends = np.stack((np.zeros_like(others), others))
    edges = Edges(ends, np.ones(others.size, dtype=np.float32), others.size + 1)
    before = edges.adjacency(weighted=False)
    after = edges.changed(np.random.default_rng(3), gone=0.0).adjacency(weighted=False)
    sets = [np.array([0])]
    walks = walks_of(before, sets)
    assert walks._followed[sets[0].tobytes()].passing.max() > 2**24
    assert_same(grown(walks, before, after), walks_of(after, sets), sets)
