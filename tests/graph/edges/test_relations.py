import numpy as np
import pytest

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import IN, OUT
from nodegraft.graph.edges.relation import merged, merged_with_weights
from tests.graph.reference import dense, random_kinds, stored, weights_in

seeds = pytest.mark.parametrize("seed", range(3))


@seeds
def test_merged_kinds_have_the_largest_weight_and_all_directions(seed: int) -> None:
    kinds = random_kinds(seed=seed)
    found = merged(list(kinds.values()))
    weights = [weights_in(kind) for kind in kinds.values()]
    assert ((weights[0] > 0) & (weights[2] > 0)).any()
    assert np.array_equal(weights_in(found), np.maximum.reduce(weights))
    for way in (OUT, IN):
        assert np.array_equal(dense(found.along(way)), dense(kinds["told"].along(way)))


@seeds
def test_plain_kinds_stay_plain(seed: int) -> None:
    one, other = (random_kinds(seed=some)["plain"] for some in (seed, seed + 10))
    found = merged([one, other])
    assert np.array_equal(stored(found), stored(one) | stored(other))
    assert found.weights is None
    assert found.directions is None
    assert merged([one]) is one


@seeds
@pytest.mark.parametrize("worth", [(1.0, 1.0, 1.0), (0.5, 2.0, 0.0), (0.0, 0.0, 3.0)])
def test_weighed_kinds_are_a_sum(seed: int, worth: tuple[float, ...]) -> None:
    kinds = list(random_kinds(seed=seed).values())
    wanted = sum(weight * weights_in(kind) for weight, kind in zip(worth, kinds, strict=True))
    found = merged_with_weights(kinds, worth)
    np.testing.assert_allclose(weights_in(found), wanted, rtol=1e-6)
    assert np.array_equal(stored(found), np.asarray(wanted) > 0)
    assert found.directions is None
    assert found.weights is not None
    assert found.weights.dtype == np.float32


def test_kinds_that_all_weigh_nothing_leave_nodes_alone() -> None:
    found = merged_with_weights(list(random_kinds().values()), [0.0, 0.0, 0.0])
    assert (found.num_nodes, found.num_edges) == (40, 0)


def test_every_kind_needs_its_weight() -> None:
    with pytest.raises(ValueError, match="shorter"):
        merged_with_weights([Adjacency(np.zeros(3, np.int32), np.zeros(0, np.int32))] * 2, [1.0])
