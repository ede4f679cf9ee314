from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import expm_multiply

from nodegraft.graph.edges import row_blocks
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.propagation import diffusion
from nodegraft.graph.propagation.diffusion import WIDTH, Diffusion, chebyshev_coefficients
from nodegraft.graph.propagation.set_mass import TOLERANCE
from nodegraft.methods.graft.signals import TIMES
from nodegraft.store.objects.derived_cache import FolderCache
from tests.graph.reference import Dense, normalised, random_edges, weights_in

NODES = 40
EVERYONE = np.arange(NODES)
ISOLATED = NODES - 1
STARTS = [np.array([0]), np.array([3, 8, 21]), np.array([5, ISOLATED]), np.array([ISOLATED])]

ROUNDING = 1e-6
"""Sums of numbers below 1 in single precision."""

FINE = 1e-9
"""A tolerance below rounding: what is left of the error is that of single precision."""

seeds = pytest.mark.parametrize("seed", range(5))
plain_or_weighted = pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])


def nearest(
    heat: Diffusion, starts: Sequence[IntArray], count: int
) -> list[tuple[IntArray, NDArray[np.float64]]]:
    mass = zip(starts, heat.mass(starts), strict=True)
    return [own.nearest(start, count) for start, own in mass]


def random_adjacency(seed: int, weighted: bool = False, nodes: int = NODES) -> Adjacency:
    """Three edges for each node; the last five nodes have none."""
    source, target = random_edges(nodes, 3 * nodes, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 4.0, 3 * nodes).astype(np.float32)
    return Adjacency.from_edges(source, target, nodes, weights=weights if weighted else None)


def degree_roots(adjacency: Adjacency) -> Dense:
    """Return the root of each node's degree in A + I: nodes x 1."""
    return np.asarray(np.sqrt(weights_in(adjacency).sum(axis=1, keepdims=True) + 1.0))


def by_formula(adjacency: Adjacency, starts: Sequence[IntArray], times: Sequence[float]) -> Dense:
    """Return D^-1/2 exp(-t (I - S)) s by a dense matrix exponential: times x nodes x sets."""
    everyone = np.arange(adjacency.num_nodes)
    laplacian = np.eye(everyone.size) - normalised(weights_in(adjacency))
    even = np.stack([np.isin(everyone, start) / start.size for start in starts], axis=1)
    roots = degree_roots(adjacency)
    return np.stack([expm(-time * laplacian) @ even / roots for time in times])


def root_mean_square(error: Dense) -> Dense:
    """Return the root mean square over all nodes of each set."""
    return np.asarray(np.sqrt((error**2).mean(axis=0)))


def mass_of(heat: Diffusion, starts: Sequence[IntArray]) -> NDArray[np.float32]:
    """Return the mass at all nodes: times x nodes x sets."""
    table = heat.table(starts)
    return table.at(np.arange(table.num_nodes)).transpose(1, 2, 0)


@seeds
@plain_or_weighted
def test_mass_is_that_of_the_matrix_exponential(
    seed: int, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diffusion, "TOLERANCE", FINE)
    adjacency = random_adjacency(seed, weighted)
    heat, expected = Diffusion(adjacency, TIMES), by_formula(adjacency, STARTS, TIMES)
    np.testing.assert_allclose(mass_of(heat, STARTS), expected, atol=ROUNDING)
    totals = heat.table(STARTS).totals
    np.testing.assert_allclose(totals, expected.sum(axis=1), rtol=1e-5)
    shares = heat.table(STARTS).shares(EVERYONE)
    np.testing.assert_allclose(shares, expected / expected.mean(axis=1)[:, None], atol=1e-4)


@pytest.mark.parametrize("nodes", [10, 30, 100, 300, 1000, 3000])
@plain_or_weighted
def test_the_error_is_within_the_tolerance_at_every_size(nodes: int, weighted: bool) -> None:
    """Root mean square error of a node's heat against 1 / nodes, for every time and set.

    That of its mass is against the mean mass: up to twice the tolerance, as degrees differ.
    """
    adjacency = random_adjacency(nodes, weighted, nodes)
    starts = [np.array([0]), np.arange(0, nodes // 2, max(1, nodes // 20)), np.array([nodes - 1])]
    even = np.stack([np.isin(np.arange(nodes), start) / start.size for start in starts], axis=1)
    spread = csr_array(normalised(weights_in(adjacency)))
    laplacian = csr_array(eye_array(nodes) - spread)
    mass, roots = mass_of(Diffusion(adjacency, TIMES), starts), degree_roots(adjacency)
    for time, approximate in zip(TIMES, mass, strict=True):
        exact = expm_multiply(-time * laplacian, even) / roots
        error = approximate - exact
        assert (root_mean_square(error * roots) <= TOLERANCE / nodes).all()
        assert (root_mean_square(error) <= 2 * TOLERANCE * exact.mean(axis=0)).all()


def test_the_error_is_within_the_tolerance_of_one_nth_beside_heavy_nodes() -> None:
    """Heat of a light node shrinks as it reaches heavy ones: there the bound is that of 1 / nodes.

    A dense part of heavy edges, and 20 nodes that hang on it by one light edge each.
    """
    core, edge = np.triu_indices(100, 1), np.full(4950, 100.0)
    source = np.concatenate((core[0], np.arange(100, 120)))
    target = np.concatenate((core[1], np.arange(20)))
    weights = np.concatenate((edge, np.ones(20))).astype(np.float32)
    adjacency, start = Adjacency.from_edges(source, target, 120, weights=weights), np.array([110])
    exact, roots = by_formula(adjacency, [start], TIMES), degree_roots(adjacency)
    assert (exact[-1] * roots).sum() < 0.1
    for approximate, mass in zip(mass_of(Diffusion(adjacency, TIMES), [start]), exact, strict=True):
        error = approximate - mass
        assert (root_mean_square(error * roots) <= TOLERANCE / 120).all()


@pytest.mark.parametrize("weight", [1.0, 1e3, 1e6])
def test_shares_are_against_the_mean_however_large_degrees_are(weight: float) -> None:
    """Mass shrinks with the root of the degree; its sum is not taken for an error."""
    source, target = random_edges(NODES, 3 * NODES, 0)
    weights = np.full(source.size, weight, dtype=np.float32)
    heavy = Adjacency.from_edges(source, target, NODES, weights=weights)
    shares = Diffusion(heavy, TIMES).table(STARTS[:2]).shares(EVERYONE)
    np.testing.assert_allclose(shares.mean(axis=1), 1.0, atol=1e-6)


@plain_or_weighted
def test_mass_ends_up_even_whatever_the_degrees(weighted: bool) -> None:
    """In a connected graph, after a long time: only then does it not tell degrees."""
    ring = np.arange(NODES)
    source, target = random_edges(NODES, 3 * NODES, 0)
    source, target = np.append(source, ring), np.append(target, np.roll(ring, 1))
    weights = np.random.default_rng(0).uniform(0.1, 4.0, source.size).astype(np.float32)
    edges = Adjacency.from_edges(source, target, NODES, weights=weights if weighted else None)
    assert np.ptp(degree_roots(edges)) > 1.0
    shares = Diffusion(edges, [1000.0]).table(STARTS).shares(EVERYONE)
    np.testing.assert_allclose(shares, 1.0, atol=0.01)


@pytest.mark.parametrize("error", [1e-2, 1e-4, 1e-6])
def test_coefficients_give_the_exponential_on_a_grid(error: float) -> None:
    grid = np.linspace(-1.0, 1.0, 401)
    times = (0.01, 0.5, *TIMES, 1000.0)
    rows = chebyshev_coefficients(times, error)
    for time, row in zip(times, rows, strict=True):
        exact = np.exp(-time * (1.0 - grid))
        assert abs(np.polynomial.chebyshev.chebval(grid, row) - exact).max() <= error
        # The last coefficient is needed: without it more than the error would be left out.
        used = np.flatnonzero(row)
        assert used.tolist() == list(range(used.size))
        row[used[-1]] = 0.0
        assert abs(np.polynomial.chebyshev.chebval(grid, row) - exact).max() > error / 2
    assert rows.shape[1] < 4 * np.sqrt(2 * max(times) * np.log(1 / error))


def test_several_times_are_each_alone() -> None:
    """A time has the coefficients that it has alone, so its mass has the same bits."""
    adjacency = random_adjacency(1)
    together = mass_of(Diffusion(adjacency, TIMES), STARTS)
    assert together.shape == (len(TIMES), NODES, len(STARTS))
    for place, time in enumerate(TIMES):
        alone = mass_of(Diffusion(adjacency, [time]), STARTS)
        np.testing.assert_array_equal(together[place], alone[0])


@plain_or_weighted
def test_a_larger_graph_takes_few_more_products(weighted: bool) -> None:
    """The degree grows with the logarithm of the number of nodes."""
    degrees = [
        chebyshev_coefficients(TIMES, TOLERANCE / np.sqrt(nodes)).shape[1]
        for nodes in (10**3, 10**5, 10**7)
    ]
    assert degrees == sorted(degrees)
    assert degrees[-1] < 1.5 * degrees[0]
    heat = Diffusion(random_adjacency(0, weighted), TIMES)
    assert heat._coefficients.shape[1] < degrees[0]


@pytest.mark.parametrize("count", [1, 4, NODES])
@plain_or_weighted
def test_nearest_are_those_with_most_mass(weighted: bool, count: int) -> None:
    """By the first time, whatever the others say."""
    heat = Diffusion(random_adjacency(2, weighted), [2.0, 50.0])
    mass, totals = mass_of(heat, STARTS)[0], heat.table(STARTS).totals[0]
    for place, (nodes, logs) in enumerate(nearest(heat, STARTS, count)):
        reached = {
            int(node): round(float(np.log(mass[node, place])), 3)
            for node in np.setdiff1d(EVERYONE, STARTS[place])
            if mass[node, place] > TOLERANCE * totals[place] / NODES
        }
        least = sorted(reached.values(), reverse=True)[:count][-1:]
        expected = {node: log for node, log in reached.items() if [log] >= least}
        assert nodes.tolist() == list(expected)
        assert logs.tolist() == pytest.approx(list(expected.values()), abs=1.1e-3)
    nodes, _ = nearest(heat, STARTS, count)[-1]
    assert not nodes.size


def test_nearest_with_the_same_mass_are_all_there() -> None:
    star = Adjacency.from_edges(np.zeros(6, np.int64), np.array([1, 2, 3, 4, 5, 5]), 8)
    [(nodes, logs)] = nearest(Diffusion(star, [2.0]), [np.array([0])], 2)
    assert nodes.tolist() == [1, 2, 3, 4, 5]
    assert np.unique(logs).size == 1


def test_an_isolated_node_keeps_its_heat() -> None:
    heat = Diffusion(random_adjacency(0), TIMES)
    mass = mass_of(heat, [np.array([ISOLATED])])[:, :, 0]
    assert (mass[:, :ISOLATED] == 0.0).all()
    # What the polynomial leaves out: at most the tolerance.
    np.testing.assert_allclose(mass[:, ISOLATED], 1.0, atol=TOLERANCE)
    others = mass_of(heat, STARTS[:2])
    assert (others[:, ISOLATED] == 0.0).all()


def test_heat_that_is_lost_to_hidden_nodes_leaves_shares_near_0() -> None:
    """With degrees of the whole graph all heat may get lost: shares must not be 0 / 0."""
    leaves = np.arange(1, 101)
    star = Adjacency.from_edges(np.zeros(100, dtype=int), leaves, 101).counting_all()
    for visible in ([0], [0, 1, 2]):
        table = Diffusion(star.induced(np.array(visible)), TIMES).table([np.array([0])])
        assert table.shares(np.arange(len(visible)))[-1].max() < 0.1


@seeds
@plain_or_weighted
def test_mass_of_a_set_is_the_mean_of_its_members(seed: int, weighted: bool) -> None:
    heat = Diffusion(random_adjacency(seed, weighted), TIMES)
    members = np.array([2, 11, 17, ISOLATED])
    together, alone = mass_of(heat, [members]), mass_of(heat, list(members[:, None]))
    # Mass below 0, an error of the polynomial, is set to 0 in both, so they may differ by it.
    np.testing.assert_allclose(together[:, :, 0], alone.mean(axis=2), atol=TOLERANCE / NODES)


@seeds
@plain_or_weighted
def test_heat_is_the_same_both_ways(seed: int, weighted: bool) -> None:
    """Mass times the root of the degree."""
    adjacency = random_adjacency(seed, weighted)
    heat = mass_of(Diffusion(adjacency, TIMES), list(EVERYONE[:, None])) * degree_roots(adjacency)
    np.testing.assert_allclose(heat, heat.transpose(0, 2, 1), atol=ROUNDING)


@plain_or_weighted
def test_mass_does_not_depend_on_what_else_is_asked_for(weighted: bool) -> None:
    """No bit of it does: neither on the order of sets nor on their number, over several passes."""
    sets = list(EVERYONE[:, None])
    assert len(sets) > 2 * WIDTH
    adjacency = random_adjacency(3, weighted)
    together = mass_of(Diffusion(adjacency, TIMES), sets)
    order = np.random.default_rng(0).permutation(NODES)
    shuffled = mass_of(Diffusion(adjacency, TIMES), [sets[place] for place in order])
    np.testing.assert_array_equal(shuffled, together[:, :, order])
    heat = Diffusion(adjacency, TIMES)
    for node, start in enumerate(sets):
        np.testing.assert_array_equal(mass_of(heat, [start])[:, :, 0], together[:, :, node])


@plain_or_weighted
@pytest.mark.parametrize("block_bytes", [1, 2000])
@pytest.mark.parametrize("entries", [0, diffusion.CACHED_ENTRIES], ids=["made again", "kept"])
def test_mass_does_not_depend_on_blocks(
    weighted: bool, block_bytes: int, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjacency = random_adjacency(3, weighted)
    expected = mass_of(Diffusion(adjacency, TIMES), STARTS)
    monkeypatch.setattr(diffusion, "CACHED_ENTRIES", entries)
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", block_bytes)
    heat = Diffusion(adjacency, TIMES)
    assert len(list(heat._new_blocks())) > 3
    np.testing.assert_array_equal(mass_of(heat, STARTS), expected)
    assert ("_cached_blocks" in vars(heat)) == (entries > 0)


def test_sets_asked_for_before_need_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    heat = Diffusion(random_adjacency(0), TIMES)
    first = mass_of(heat, STARTS[:2])
    monkeypatch.setattr(Diffusion, "_pass", None)
    np.testing.assert_array_equal(mass_of(heat, STARTS[1::-1]), first[:, :, ::-1])
    copy = heat.with_array_cache(FolderCache(Path("nowhere")))
    np.testing.assert_array_equal(mass_of(copy, STARTS[:2]), first)


def test_the_same_set_twice_is_one_column_of_a_pass() -> None:
    heat = Diffusion(random_adjacency(0), TIMES)
    twice = mass_of(heat, [STARTS[1], STARTS[0], STARTS[1]])
    np.testing.assert_array_equal(twice[:, :, 0], twice[:, :, 2])
    assert len(heat._cache) == 2


def test_the_cache_has_a_limit_except_for_what_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With space for three sets the oldest go, those just asked for stay; mass is the same."""
    unlimited = Diffusion(random_adjacency(0), TIMES)
    expected = [mass_of(unlimited, [start]) for start in STARTS]
    monkeypatch.setattr(diffusion, "CACHED_NUMBERS", 3 * len(TIMES) * NODES)
    limited = Diffusion(random_adjacency(0), TIMES)
    for start, mass in zip(STARTS, expected, strict=True):
        np.testing.assert_array_equal(mass_of(limited, [start]), mass)
    assert list(limited._cache) == [start.tobytes() for start in STARTS[1:]]
    together = mass_of(limited, STARTS)
    np.testing.assert_array_equal(together, np.concatenate(expected, axis=2))
    assert len(limited._cache) == len(STARTS)


def test_trials_do_not_remove_what_a_model_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without space, lasting sets stay until other lasting sets are asked for."""
    monkeypatch.setattr(diffusion, "CACHED_NUMBERS", 1)
    heat = Diffusion(random_adjacency(0), TIMES)
    names = [start.tobytes() for start in STARTS]
    heat.table(STARTS[:2], lasting=True)
    heat.table(STARTS[2:3])
    heat.table(STARTS[3:])
    assert list(heat._cache) == [names[0], names[1], names[3]]
    heat.table(STARTS[1:3], lasting=True)
    assert sorted(heat._cache) == sorted(names[1:3])


def test_the_next_process_needs_no_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sets = [EVERYONE[:10], EVERYONE[:2]]
    adjacency, cache = random_adjacency(0), FolderCache(tmp_path)
    heat = Diffusion(adjacency, TIMES, cache)
    # A set of an earlier trial is written, too, once a model asks for it.
    heat.mass(sets[1:])
    assert not list(tmp_path.iterdir())
    first = heat.table(sets, lasting=True)
    monkeypatch.setattr(Diffusion, "_pass", None)
    later = Diffusion(adjacency, TIMES, cache)
    later.mass(sets[1:])
    again = later.table(sets, lasting=True)
    np.testing.assert_array_equal(again.at(EVERYONE), first.at(EVERYONE))
    np.testing.assert_array_equal(again.totals, first.totals)


def test_the_cache_has_the_sets_of_a_model_and_as_many_others(tmp_path: Path) -> None:
    adjacency, cache = random_adjacency(0), FolderCache(tmp_path)

    def ask(first: int) -> None:
        sets = [EVERYONE[first + place :][:2] for place in range(3)]
        Diffusion(adjacency, TIMES, cache).table(sets, lasting=True)

    ask(0)
    assert len(list(tmp_path.iterdir())) == 3 + 1
    for first in (1, 5, 9, 13):
        ask(first)
    # The last three, the three before them, and the list.
    files = set(tmp_path.iterdir())
    assert len(files) == 6 + 1
    ask(9)
    assert set(tmp_path.iterdir()) == files


def test_a_file_of_another_graph_counts_as_missing(tmp_path: Path) -> None:
    cache, start = FolderCache(tmp_path), EVERYONE[:10]
    Diffusion(random_adjacency(0, nodes=30), TIMES, cache).table([start], lasting=True)
    for _ in range(2):
        from_cache = Diffusion(random_adjacency(0), TIMES, cache).table([start], lasting=True)
        alone = Diffusion(random_adjacency(0), TIMES).table([start])
        np.testing.assert_array_equal(from_cache.at(EVERYONE), alone.at(EVERYONE))


def test_the_cache_depends_on_times_and_tolerances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adjacency, cache, start = random_adjacency(0), FolderCache(tmp_path), EVERYONE[:10]
    Diffusion(adjacency, [2.0], cache).table([start], lasting=True)
    for times, tolerance in (([3.0], TOLERANCE), ([2.0, 3.0], TOLERANCE), ([2.0], 0.1)):
        monkeypatch.setattr(diffusion, "TOLERANCE", tolerance)
        from_cache = Diffusion(adjacency, times, cache).table([start], lasting=True)
        alone = Diffusion(adjacency, times).table([start])
        np.testing.assert_array_equal(from_cache.at(EVERYONE), alone.at(EVERYONE))
    # A set and a list for each of them.
    assert len(list(tmp_path.iterdir())) == 8


@pytest.mark.parametrize(
    "nodes", [EVERYONE[5:20], EVERYONE[::-1], np.array([7, 7, 0, 9, 8]), EVERYONE[:0]], ids=str
)
def test_mass_is_that_of_the_nodes_asked_for_in_any_order(nodes: IntArray) -> None:
    table = Diffusion(random_adjacency(4), TIMES).table(STARTS)
    everywhere = np.stack([table.at(np.array([node]))[:, :, 0] for node in EVERYONE], axis=2)
    np.testing.assert_array_equal(table.at(nodes), everywhere[:, :, nodes])
    np.testing.assert_array_equal(table.at(nodes, slice(1, 3)), everywhere[:, 1:3][:, :, nodes])
    some = table.of(np.array([2, 0]))
    np.testing.assert_array_equal(some.at(nodes), everywhere[[2, 0]][:, :, nodes])
    np.testing.assert_array_equal(some.shares(nodes), table.shares(nodes)[:, :, [2, 0]])
