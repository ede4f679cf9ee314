import numpy as np
import pytest

from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.statistics import (
    HEAVIEST,
    MOST,
    PRIOR,
    Homophily,
    homophily,
    homophily_of_kinds,
    relation_weights,
)
from tests.graph.reference import random_kinds, typed_graph, weights_in

seeds = pytest.mark.parametrize("seed", range(5))


@seeds
def test_chance_is_what_shuffled_ends_give(seed: int) -> None:
    draws = np.random.default_rng(seed)
    ends = draws.choice(4, size=(2, 4000), p=[0.1, 0.2, 0.3, 0.4])
    ends[1, :1000] = ends[0, :1000]
    shuffled = draws.permutation(ends.ravel()).reshape(2, -1)
    chance = (shuffled[0] == shuffled[1]).mean()
    found = homophily(ends)
    assert found.same == (ends[0] == ends[1]).mean()
    assert found.adjusted == pytest.approx((found.same - chance) / (1 - chance), abs=0.03)
    assert (found.pairs, found.mean_weight) == (4000, 1.0)


@pytest.mark.parametrize("rows", [np.arange(40), np.arange(1, 40, 2)], ids=["graph", "view"])
def test_kinds_one_by_one(rows: IntArray) -> None:
    """Only edges count whose ends are both visible and labelled."""
    labels = NodeLabels({"c": [30, 3, 5, 12], "a": list(range(13, 25)), "b": [1, 2, 7, 9, 11]})
    classes = {row: name for name in labels for row in labels[name].tolist() if row in rows}
    found = homophily_of_kinds(typed_graph().view(rows), labels)
    for name, kind in random_kinds().items():
        weights = weights_in(kind)
        pairs = [
            (classes[a], classes[b], weights[a, b])
            for a, b in zip(*np.nonzero(np.triu(weights)), strict=True)
            if a in classes and b in classes
        ]
        assert found[name].pairs == len(pairs) > 0
        assert found[name].same == pytest.approx(np.mean([a == b for a, b, _ in pairs]))
        assert found[name].mean_weight == pytest.approx(np.mean([one[2] for one in pairs]))
        shares = np.unique([one[:2] for one in pairs], return_counts=True)[1] / (2 * len(pairs))
        chance = (shares**2).sum()
        assert found[name].adjusted == pytest.approx((found[name].same - chance) / (1 - chance))


@pytest.mark.parametrize("labels", [NodeLabels({}), NodeLabels({"a": [2]})], ids=["none", "one"])
def test_without_labelled_pairs_nothing_is_known(labels: NodeLabels) -> None:
    graph = Graph(range(3), np.eye(3), {"x": Relation([(0, 1)]), "y": Relation([(1, 2)], [3.0])})
    nothing = Homophily(0, 0.0, 0.0)
    assert homophily_of_kinds(graph, labels) == {"x": nothing, "y": nothing._replace(mean_weight=3)}


def drawn(seed: int) -> dict[str, Homophily]:
    """Some kinds that join strangers, one without labelled pairs, some with weights."""
    draws = np.random.default_rng(seed)
    kinds = {
        f"kind {place}": Homophily(
            int(draws.integers(1, 500)),
            0.5,
            float(draws.uniform(-0.3, 1.0)),
            float(draws.uniform(0.5, 4.0)),
        )
        for place in range(4)
    }
    return {**kinds, "unseen": Homophily(0, 0.0, 0.0)}


def mean_of(kinds: dict[str, Homophily], weights: dict[str, float]) -> float:
    """How much an edge between labelled nodes weighs, on average."""
    total = sum(one.pairs * one.mean_weight * weights[name] for name, one in kinds.items())
    return total / sum(one.pairs for one in kinds.values())


@seeds
def test_labelled_pairs_weigh_one_on_average(seed: int) -> None:
    kinds = drawn(seed)
    weights, unseen = relation_weights(kinds)
    assert list(weights) == list(kinds)
    assert mean_of(kinds, weights) == pytest.approx(1.0)
    assert min(weights.values()) >= 0
    # A kind without labelled pairs is known no better than one that comes later.
    assert weights["unseen"] == pytest.approx(unseen)


@seeds
def test_weights_are_odds_of_shrunken_homophily(seed: int) -> None:
    kinds = drawn(seed)
    weights, _ = relation_weights(kinds)
    seen = [(one.pairs, one.adjusted) for one in kinds.values()]
    mean = sum(n * h for n, h in seen) / sum(n for n, _ in seen)
    assert 0 < mean < MOST
    shrunk = [min(max((n * h + PRIOR * mean) / (n + PRIOR), 0.0), MOST) for n, h in seen]
    odds = np.array([one / (1 - one) for one in shrunk])
    # Whatever the unit of a kind's own weights.
    found = np.array([one.mean_weight * weights[name] for name, one in kinds.items()])
    np.testing.assert_allclose(found / found.sum(), odds / odds.sum())


@pytest.mark.parametrize("adjusted", [0.0, 0.3, -0.2, 1.0])
@pytest.mark.parametrize("heavy", [1.0, 4.0])
def test_one_kind_weighs_one(adjusted: float, heavy: float) -> None:
    kinds = {"only": Homophily(50, 0.5, adjusted, heavy)}
    weights, unseen = relation_weights(kinds)
    assert mean_of(kinds, weights) == pytest.approx(1.0)
    assert unseen == 1.0


@pytest.mark.parametrize("adjusted", [0.0, -0.4])
@pytest.mark.parametrize("pairs", [0, 60])
def test_where_no_kind_says_anything_all_are_alike(adjusted: float, pairs: int) -> None:
    kinds = {name: Homophily(pairs, 0.1, adjusted) for name in "ab"}
    assert relation_weights(kinds) == ({"a": 1.0, "b": 1.0}, 1.0)


def test_few_pairs_are_hardly_believed() -> None:
    def weight(pairs: int, adjusted: float) -> float:
        known = {"many": Homophily(10_000, 0.5, 0.4), "few": Homophily(pairs, 0.5, adjusted)}
        weights, _ = relation_weights(known)
        return weights["few"] / weights["many"]

    assert weight(0, 0.0) == pytest.approx(1.0, rel=0.01)
    for adjusted in (0.0, 0.9):
        away = [abs(np.log(weight(pairs, adjusted))) for pairs in (1, 10, 100, 1000)]
        assert away == sorted(away)
        assert away[0] < 0.5 < away[-1]


def test_a_rare_kind_does_not_drown_the_node_itself() -> None:
    kinds = {"poor": Homophily(1000, 0.1, -0.2), "rare": Homophily(20, 0.9, 0.8, 5.0)}
    weights, _ = relation_weights(kinds)
    assert weights == {"poor": 0.0, "rare": pytest.approx(HEAVIEST / 5.0)}


def test_no_kind_outweighs_all_others_without_limit() -> None:
    kinds = {"sure": Homophily(10**6, 1.0, 1.0), "other": Homophily(10**6, 0.5, 0.5)}
    weights, _ = relation_weights(kinds)
    assert weights["sure"] / weights["other"] == pytest.approx(MOST / (1 - MOST), rel=1e-3)
