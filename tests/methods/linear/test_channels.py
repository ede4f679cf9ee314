import numpy as np
import pytest
from scipy.sparse import csr_array

from nodegraft.graph.graph import Graph
from nodegraft.methods.linear.channels import (
    channel_predictions,
    channel_rows,
    least_squares,
    similarities,
)
from tests.graph.reference import dense

FEATURES = np.array([[1.0, 0, 2], [0, 3, 0], [1, 1, 0], [0, 0, 4]])
# A path a - b - c, and d alone.
WALK = np.array([[0, 1, 0, 0], [0.5, 0, 0.5, 0], [0, 1, 0, 0], [0, 0, 0, 0]])


def by_hand(features: np.ndarray) -> list[np.ndarray]:
    rest = np.eye(4) - WALK
    filters = [np.eye(4), WALK, WALK @ WALK, rest, rest @ rest]
    return [matrix @ features for matrix in filters]


@pytest.mark.parametrize("sparse", [False, True])
def test_five_channels_by_hand(sparse: bool) -> None:
    features = csr_array(FEATURES) if sparse else FEATURES
    graph = Graph(list("abcd"), features, [("a", "b"), ("b", "c")])
    places = np.array([1, 3])
    for found, expected in zip(channel_rows(graph, places), by_hand(FEATURES), strict=True):
        np.testing.assert_allclose(dense(found), expected[places], atol=1e-12)
    weights = list(np.random.default_rng(0).standard_normal((5, 3, 2)))
    found = channel_predictions(graph, weights)
    wanted = [own @ weight for own, weight in zip(by_hand(FEATURES), weights, strict=True)]
    np.testing.assert_allclose(found, np.stack(wanted, axis=1), atol=1e-12)


def test_hidden_nodes_are_in_no_channel() -> None:
    graph = Graph(list("abcd"), FEATURES, [("a", "b"), ("b", "c")])
    alone = Graph(list("ab"), FEATURES[:2], [("a", "b")])
    places = np.arange(2)
    hidden = channel_rows(graph.view(places), places)
    for found, expected in zip(hidden, channel_rows(alone, places), strict=True):
        np.testing.assert_array_equal(dense(found), dense(expected))


@pytest.mark.parametrize("width", [3, 20])
def test_least_squares_is_the_minimum_norm_fit(width: int) -> None:
    rows = np.random.default_rng(1).standard_normal((9, width))
    rows[4] = rows[3]
    counts = np.array([2, 4, 3])
    one_hot = np.repeat(np.eye(3), counts, axis=0)
    weights = rows.T @ least_squares(rows @ rows.T, counts, penalty=0.0)
    np.testing.assert_allclose(weights, np.linalg.pinv(rows) @ one_hot, atol=1e-5)


def test_a_penalty_balances_classes() -> None:
    rows = np.random.default_rng(2).standard_normal((9, 4))
    counts = np.array([7, 2])
    scale = np.square(rows).sum() / 9
    shares = np.repeat(1 / counts, counts)
    system = rows.T @ (shares[:, None] * rows) + 0.1 * scale * np.eye(4)
    means = np.stack([rows[:7].mean(axis=0), rows[7:].mean(axis=0)])
    weights = rows.T @ least_squares(rows @ rows.T, counts, penalty=0.1)
    np.testing.assert_allclose(weights, np.linalg.solve(system, means.T), atol=1e-9)


def test_similarities_have_the_entropy_asked_for() -> None:
    predictions = np.random.default_rng(3).standard_normal((7, 5, 6))
    found = similarities(predictions, entropy=1.0).reshape(7, 5, 4)
    np.testing.assert_allclose(found.sum(axis=2), 1)
    np.testing.assert_allclose(-(found * np.log2(found)).sum(axis=2), 1, atol=1e-9)
    # The first row is that of the first channel; nearer channels are more similar.
    far = np.square(predictions[:, :1] - predictions[:, 1:]).sum(axis=2)
    np.testing.assert_array_equal(far.argsort(axis=1), (-found[:, 0]).argsort(axis=1))
    ratios = np.log(found[:, 0, :1] / found[:, 0, 1:]) / (far[:, 1:] - far[:, :1])
    np.testing.assert_allclose(ratios, ratios[:, :1] * np.ones(3), rtol=1e-6)


def test_equal_predictions_are_equally_similar() -> None:
    np.testing.assert_array_equal(similarities(np.ones((2, 5, 3)), 1.0), np.full((2, 20), 0.25))
    # From the first channel two others are near, two are far: one bit is half and half.
    near_two = np.zeros((1, 5, 1))
    near_two[0, 3:] = 1
    first = similarities(near_two, 1.0)[0, :4]
    np.testing.assert_allclose(first, [0.5, 0.5, 0, 0], atol=1e-6)
