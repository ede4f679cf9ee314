from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.graph.algebra import diffusion
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.diffusion import FEWEST_STARTS, TOLERANCE, Diffusion
from nodegraft.graph.algebra.matrix import IntArray
from nodegraft.store.shelf import FolderShelf
from tests.graph.reference import Dense, normalised, random_edges, weights_in

RESTART = 0.3
STEPS = 10  # 3 / RESTART
NODES = 40
EVERYONE = np.arange(NODES)
ISOLATED = NODES - 1
STARTS = [np.array([0]), np.array([3, 8, 21]), np.array([5, ISOLATED]), np.array([ISOLATED])]

ROUNDING = 1e-6
"""Sums of a few float32 numbers below 1."""

EVERYBODY = 1e-11
"""So small a tolerance that all walkers are followed that a float32 number could tell."""

seeds = pytest.mark.parametrize("seed", range(5))
plain_or_weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
both = pytest.mark.parametrize("small", [0, diffusion.FULL_PASS_ENTRIES], ids=["local", "whole"])


def random_adjacency(seed: int, weighted: bool = False) -> Adjacency:
    """Three edges a node, but for the last five."""
    source, target = random_edges(NODES, 3 * NODES, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 4.0, 3 * NODES).astype(np.float32)
    return Adjacency.from_edges(source, target, NODES, weights=weights if weighted else None)


def by_formula(
    adjacency: Adjacency, starts: Sequence[IntArray], restart: float = RESTART, steps: int = STEPS
) -> Dense:
    """A column per set of r Σ (1 - r)^k S^k s, with dense powers of S."""
    spread = normalised(weights_in(adjacency))
    powers = (np.linalg.matrix_power((1 - restart) * spread, step) for step in range(steps))
    even = np.stack([np.isin(EVERYONE, start) / start.size for start in starts], axis=1)
    return np.asarray(restart * sum(powers) @ even)


def mass_of(
    walks: Diffusion, starts: Sequence[IntArray], nodes: IntArray
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    table = walks.table(starts)
    return table.mass(nodes), table.totals


@seeds
@both
@plain_or_weighted
def test_walks_that_follow_everybody_are_the_formula(
    seed: int, small: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", EVERYBODY)
    adjacency = random_adjacency(seed, weighted)
    mass, total = mass_of(Diffusion(adjacency, [RESTART], small), STARTS, EVERYONE)
    wanted = by_formula(adjacency, STARTS)
    np.testing.assert_allclose(mass[0], wanted, atol=ROUNDING)
    np.testing.assert_allclose(total[0], wanted.sum(axis=0), rtol=1e-5)


@both
@plain_or_weighted
def test_several_restarts_are_each_alone(
    small: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", EVERYBODY)
    monkeypatch.setattr(diffusion, "MOST_STEPS", 40)
    adjacency, steps = random_adjacency(1, weighted), {0.3: 10, 0.5: 6, 0.15: 20, 0.02: 40}
    mass, total = mass_of(Diffusion(adjacency, list(steps), small), STARTS, EVERYONE)
    assert mass.shape == (len(steps), NODES, len(STARTS))
    for place, (restart, count) in enumerate(steps.items()):
        alone, its_total = mass_of(Diffusion(adjacency, [restart], small), STARTS, EVERYONE)
        np.testing.assert_allclose(mass[place], alone[0], atol=ROUNDING)
        np.testing.assert_allclose(total[place], its_total[0], rtol=1e-5)
        wanted = by_formula(adjacency, STARTS, restart, count)
        np.testing.assert_allclose(alone[0], wanted, atol=ROUNDING)


@both
@plain_or_weighted
@pytest.mark.parametrize("count", [1, 4, NODES])
def test_nearest_are_those_with_most_mass(small: int, weighted: bool, count: int) -> None:
    """By the first restart, whatever the others say."""
    walks = Diffusion(random_adjacency(2, weighted), [RESTART, 0.05], small)
    mass, _ = mass_of(walks, STARTS, EVERYONE)
    for place, (nodes, logs) in enumerate(walks.nearest(STARTS, count)):
        reached = {
            int(node): round(float(np.log(mass[0, node, place])), 3)
            for node in EVERYONE
            if mass[0, node, place] > 0 and node not in STARTS[place]
        }
        least = sorted(reached.values(), reverse=True)[:count][-1:]
        kept = {node: log for node, log in reached.items() if [log] >= least}
        assert nodes.tolist() == list(kept)
        assert logs.tolist() == pytest.approx(list(kept.values()), abs=1e-9)


@both
def test_nearest_that_have_as_much_are_all_told(small: int) -> None:
    star = Adjacency.from_edges(np.zeros(6, np.int64), np.array([1, 2, 3, 4, 5, 5]), 8)
    [(nodes, logs)] = Diffusion(star, [RESTART], small).nearest([np.array([0])], 2)
    assert nodes.tolist() == [1, 2, 3, 4, 5]
    assert np.unique(logs).size == 1


def most_lost(tolerance: float, degrees: IntArray, start: IntArray) -> Dense:
    r"""What a node may miss of a set's mass because walkers were not followed.

    With :math:`d` the degrees in A + I, :math:`W = (A + I) D^{-1}` and :math:`|s|` at least
    FEWEST_STARTS, fewer than :math:`\tau d / |s|` walkers are given up in a step, at every node.
    :math:`W d = d`, so k steps on they would still be at most :math:`(1 - r)^k \tau d / |s|`, of
    whom a share :math:`r` ends there. Added up over the steps left, that is below
    :math:`(1 - r) \tau d / |s|`; over all :math:`K - 1` steps that give up walkers, and turned from
    walkers into mass by :math:`D^{-1/2}`: below :math:`(K - 1) (1 - r) \tau \sqrt{d} / |s|`.
    """
    lost = (STEPS - 1) * (1 - RESTART) * tolerance / max(start.size, FEWEST_STARTS)
    return np.asarray(lost * np.sqrt(degrees + 1.0))


@seeds
@pytest.mark.parametrize("tolerance", [TOLERANCE, 0.02, 0.2])
def test_local_walks_miss_no_more_than_their_tolerance(
    seed: int, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", tolerance)
    adjacency = random_adjacency(seed)
    whole, _ = mass_of(Diffusion(adjacency, [RESTART]), STARTS, EVERYONE)
    local, _ = mass_of(Diffusion(adjacency, [RESTART], full_pass_entries=0), STARTS, EVERYONE)
    allowed = [most_lost(tolerance, adjacency.degrees(), start) for start in STARTS]
    missing = whole - local
    assert (missing >= -ROUNDING).all()
    assert (missing <= np.stack(allowed, axis=1) + ROUNDING).all()


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4, 1e9])
def test_local_walks_come_as_far_whatever_edges_weigh(scale: float) -> None:
    source, target = random_edges(NODES, 3 * NODES, seed=0)
    drawn = np.random.default_rng(0).uniform(0.1, 4.0, 3 * NODES)
    weights = (scale * drawn).astype(np.float32)
    adjacency = Adjacency.from_edges(source, target, NODES, weights=weights)
    _, whole = mass_of(Diffusion(adjacency, [RESTART]), STARTS, EVERYONE)
    _, local = mass_of(Diffusion(adjacency, [RESTART], full_pass_entries=0), STARTS, EVERYONE)
    np.testing.assert_allclose(local, whole, rtol=0.01)


def test_a_coarse_tolerance_does_give_up_walkers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", 0.2)
    _, whole = mass_of(Diffusion(random_adjacency(0), [RESTART]), STARTS, EVERYONE)
    walks = Diffusion(random_adjacency(0), [RESTART], full_pass_entries=0)
    _, local = mass_of(walks, STARTS, EVERYONE)
    assert (local < 0.99 * whole)[0, 0]


@both
def test_an_isolated_node_keeps_its_walkers(small: int) -> None:
    walks = Diffusion(random_adjacency(0), [RESTART], small)
    mass, total = mass_of(walks, [np.array([ISOLATED])], EVERYONE)
    stayed = 1 - (1 - RESTART) ** STEPS
    assert mass[0, :, 0].nonzero()[0].tolist() == [ISOLATED]
    assert [mass[0, ISOLATED, 0], total[0, 0]] == pytest.approx([stayed, stayed])


@seeds
@both
def test_mass_of_a_set_is_the_mean_of_its_members(
    seed: int, small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", EVERYBODY)
    walks = Diffusion(random_adjacency(seed), [RESTART], small)
    members = np.array([2, 11, 17, ISOLATED])
    together, total = mass_of(walks, [members], EVERYONE)
    alone, totals = mass_of(walks, [members[[place]] for place in range(members.size)], EVERYONE)
    np.testing.assert_allclose(together[0, :, 0], alone[0].mean(axis=1), atol=ROUNDING)
    assert total[0, 0] == pytest.approx(totals.mean(), rel=1e-5)


@seeds
@both
def test_mass_is_the_same_both_ways(seed: int, small: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", EVERYBODY)
    walks = Diffusion(random_adjacency(seed), [RESTART], small)
    mass, _ = mass_of(walks, [np.array([node]) for node in EVERYONE], EVERYONE)
    np.testing.assert_allclose(mass[0], mass[0].T, atol=ROUNDING)


@both
def test_a_set_has_the_same_mass_in_whatever_company(small: int) -> None:
    """To the last bit, in more than one pass, too."""
    sets = [np.array([node]) for node in EVERYONE]
    assert len(sets) > diffusion.MOST_SIDE_BY_SIDE
    together, _ = mass_of(Diffusion(random_adjacency(3), [RESTART], small), sets, EVERYONE)
    for node, start in enumerate(sets):
        alone, _ = mass_of(Diffusion(random_adjacency(3), [RESTART], small), [start], EVERYONE)
        np.testing.assert_array_equal(together[:, :, node], alone[:, :, 0])


def ring_of_hubs(nodes: int, weighted: bool) -> Adjacency:
    """Everybody knows the next one, one far away, and the first node, who knows them all."""
    everyone = np.arange(nodes)
    others = np.concatenate(((everyone + 1) % nodes, everyone * 7 % nodes, 0 * everyone))
    weights = np.tile(np.array([0.5, 1.0, 1.5], dtype=np.float32), nodes) if weighted else None
    return Adjacency.from_edges(np.tile(everyone, 3), others, nodes, weights=weights)


@plain_or_weighted
def test_a_local_walk_reads_no_more_of_a_larger_graph(weighted: bool, touched: list[int]) -> None:
    read = []
    for nodes in (10_000, 40_000, 160_000):
        adjacency, start = ring_of_hubs(nodes, weighted), np.array([nodes // 3, nodes // 2])
        touched.clear()
        mass_of(Diffusion(adjacency, [RESTART], full_pass_entries=0), [start], start)
        read.append(sum(touched))
        # The bound, from how many of the walkers are still on their way.
        arriving = [(1 - RESTART) ** step * FEWEST_STARTS / TOLERANCE for step in range(STEPS)]
        bounds = np.sqrt(adjacency.weighted_degrees(start) + 1.0).mean() * np.array(arriving)
        assert (np.array(touched) <= bounds[: len(touched)]).all()
    assert max(read) <= 1.1 * min(read)
    assert 0 < max(read) < 200_000


@both
def test_sets_met_before_are_not_walked_again(
    small: int, touched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    walks = Diffusion(random_adjacency(0), [RESTART], small)
    first, _ = mass_of(walks, STARTS[:2], EVERYONE)
    touched.clear()
    monkeypatch.setattr(Diffusion, "_pass", None)
    again, _ = mass_of(walks, STARTS[1::-1], EVERYONE[::-1])
    np.testing.assert_array_equal(again, first[:, ::-1, ::-1])
    assert not touched


@both
def test_what_is_held_has_a_limit_but_for_what_is_asked(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for three sets: the oldest go, those just asked for stay, and answers are the same."""
    free = Diffusion(random_adjacency(0), [RESTART], small)
    wanted = [mass_of(free, [start], EVERYONE)[0] for start in STARTS]
    sizes = [free._found[start.tobytes()][1].size for start in STARTS]
    monkeypatch.setattr(diffusion, "CACHED_NUMBERS", sum(sizes[1:]))
    tight = Diffusion(random_adjacency(0), [RESTART], small)
    for start, expected in zip(STARTS, wanted, strict=True):
        np.testing.assert_array_equal(mass_of(tight, [start], EVERYONE)[0], expected)
    assert list(tight._found) == [start.tobytes() for start in STARTS[1:]]
    together, _ = mass_of(tight, STARTS, EVERYONE)
    np.testing.assert_allclose(together, np.concatenate(wanted, axis=2), atol=ROUNDING)
    assert len(tight._found) == len(STARTS)


@both
def test_trials_do_not_drive_out_what_a_model_asked_for(
    small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for nothing: what lasts stays until other sets do."""
    monkeypatch.setattr(diffusion, "CACHED_NUMBERS", 1)
    walks = Diffusion(random_adjacency(0), [RESTART], small)
    names = [start.tobytes() for start in STARTS]
    walks.table(STARTS[:2], lasting=True)
    walks.table(STARTS[2:3])
    walks.table(STARTS[3:])
    assert list(walks._found) == [names[0], names[1], names[3]]
    walks.table(STARTS[1:3], lasting=True)
    assert sorted(walks._found) == sorted(names[1:3])


@both
def test_the_next_process_walks_from_no_set_again(
    small: int, tmp_path: Path, touched: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    sets = [EVERYONE[:FEWEST_STARTS], EVERYONE[:2]]
    adjacency, shelf = random_adjacency(0), FolderShelf(tmp_path)
    walks = Diffusion(adjacency, [RESTART], small, shelf)
    # What a trial came to before is put there, too.
    list(walks.nearest(sets[1:], 3))
    first = walks.table(sets, lasting=True)
    touched.clear()
    monkeypatch.setattr(Diffusion, "_pass", None)
    later = Diffusion(adjacency, [RESTART], small, shelf)
    list(later.nearest(sets[1:], 3))
    again = later.table(sets, lasting=True)
    np.testing.assert_array_equal(again.mass(EVERYONE), first.mass(EVERYONE))
    np.testing.assert_array_equal(again.totals, first.totals)
    assert not touched


@both
def test_the_shelf_holds_the_sets_of_a_model_and_as_many_others(small: int, tmp_path: Path) -> None:
    adjacency, shelf = random_adjacency(0), FolderShelf(tmp_path)

    def asked(first: int) -> None:
        sets = [EVERYONE[first + place :][:2] for place in range(3)]
        Diffusion(adjacency, [RESTART], small, shelf).table(sets, lasting=True)

    asked(0)
    assert len(list(tmp_path.iterdir())) == 3 + 1
    for first in (1, 5, 9, 13):
        asked(first)
    # The last three, those before them, and the list.
    kept = set(tmp_path.iterdir())
    assert len(kept) == 6 + 1
    asked(9)
    assert set(tmp_path.iterdir()) == kept


def test_what_local_walks_left_is_not_taken_for_a_whole_pass(tmp_path: Path) -> None:
    """Nor for what walks with other chances to end came to."""
    adjacency, shelf, start = random_adjacency(0), FolderShelf(tmp_path), EVERYONE[:FEWEST_STARTS]
    Diffusion(adjacency, [RESTART], 0, shelf).table([start], lasting=True)
    for restart, small in ((RESTART, diffusion.FULL_PASS_ENTRIES), (0.1, 0)):
        shelved = Diffusion(adjacency, [restart], small, shelf).table([start], lasting=True)
        alone = Diffusion(adjacency, [restart], small).table([start])
        np.testing.assert_array_equal(shelved.mass(EVERYONE), alone.mass(EVERYONE))
    # Each of them, and three lists.
    assert len(list(tmp_path.iterdir())) == 6


@both
@pytest.mark.parametrize(
    "nodes", [EVERYONE[5:20], EVERYONE[::-1], np.array([7, 7, 0, 9, 8]), EVERYONE[:0]], ids=str
)
def test_mass_is_that_of_the_nodes_asked_for_in_any_order(small: int, nodes: IntArray) -> None:
    table = Diffusion(random_adjacency(4), [RESTART, 0.1], small).table(STARTS)
    everywhere = np.stack([table.mass(np.array([node]))[:, 0] for node in EVERYONE], axis=1)
    np.testing.assert_array_equal(table.mass(nodes), everywhere[:, nodes])
