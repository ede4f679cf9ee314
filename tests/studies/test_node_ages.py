import numpy as np
import pytest
from scipy.sparse import csr_array
from studies.node_ages import (
    first_sessions,
    fit_power,
    raised,
    same_as_labelled,
    with_age_prior,
    with_true_ages,
)

from nodegraft.evaluation.checks import small_stream
from nodegraft.graph.graph import Graph
from nodegraft.streams.arrival import ARRIVALS, Arrival


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_first_sessions_are_those_in_which_views_show_a_node(arrival: Arrival) -> None:
    stream = small_stream(arrival=arrival)
    views = [session.view for session in stream]
    assert np.array_equal(first_sessions(views), stream._entry[views[-1].rows])


def test_a_prior_on_age_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.node_ages.ROUNDS", 1)
    probabilities = np.array([[0.9, 0.1], [0.7, 0.3], [0.4, 0.6], [0.5, 0.5]])
    ages = np.array([0, 0, 1, 1])
    found = with_age_prior(probabilities, ages, np.array([0, 0]), lead=0)
    # Half of all nodes have each age, so each class gets 0.5 nodes more of each. Class 0 has
    # 1.6 + 0.5 and 0.9 + 0.5 nodes of age 0 and 1, class 1 has 0.4 + 0.5 and 1.1 + 0.5.
    old = np.array([2.1 / 3.5, 0.9 / 2.5])
    new = np.array([1.4 / 3.5, 1.6 / 2.5])
    expected = probabilities * np.stack((old, old, new, new))
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True))


def test_classes_younger_than_a_node_are_excluded_unless_labels_came_before_their_class() -> None:
    probabilities = np.array([[0.1, 0.9], [0.1, 0.9], [0.6, 0.4]])
    ages, arrived = np.array([0, 1, 1]), np.array([0, 1])
    without = with_age_prior(probabilities, ages, arrived, lead=0)
    assert without[0].tolist() == [1.0, 0.0]
    assert without[1].argmax() == 1
    assert with_age_prior(probabilities, ages, arrived, lead=1)[0].argmax() == 1


def test_equal_ages_change_no_prediction() -> None:
    # As with the arrival `present`.
    probabilities = np.random.default_rng(0).dirichlet(np.ones(4), size=50)
    found = with_age_prior(probabilities, np.zeros(50, dtype=int), np.arange(4), lead=3)
    np.testing.assert_allclose(found, probabilities)


def test_true_shares_by_hand() -> None:
    # Two of three nodes of class 0 have age 0, none of class 1.
    targets, ages = np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1])
    found = with_true_ages(np.full((4, 2), 0.5), ages, targets)
    expected = np.array([[1, 0], [1, 0], [0.25, 0.75], [0.25, 0.75]])
    np.testing.assert_allclose(found, expected)


def test_the_power_makes_flat_probabilities_as_sharp_as_their_labels() -> None:
    # Right in 80 % of the cases: 0.6^p / (0.6^p + 0.4^p) = 0.8 at p = log 4 / log 1.5 = 3.419;
    # 2 ** 1.75 = 3.364 is the nearest power that is tried.
    probabilities = np.tile([0.6, 0.4], (10, 1))
    targets = np.array([0] * 8 + [1] * 2)
    assert fit_power(probabilities, targets) == pytest.approx(2**1.75)
    np.testing.assert_allclose(raised(probabilities[:1], 2.0), [[0.36 / 0.52, 0.16 / 0.52]])


FEATURES = np.array([[1.0, 0, 2], [1, 0, 2], [1, 2, 0], [0, 0, 0], [0, 0, 0], [2, 0, 1]])


@pytest.mark.parametrize("sparse", [True, False])
def test_nodes_with_the_features_of_a_labelled_node_are_near_duplicates(sparse: bool) -> None:
    graph = Graph(range(6), csr_array(FEATURES) if sparse else FEATURES, [(0, 1)])
    found = same_as_labelled(graph, np.array([1, 2, 4, 5]), np.array([0, 3]))
    # Row 4 has no features, as the labelled row 3, which says nothing about its text.
    assert found.tolist() == [True, False, False, False]
