import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit, logit

from nodegraft.methods.graft.confidence import (
    ALWAYS_KNOWN,
    UNCALIBRATED,
    calibrated_probabilities,
    fit_calibration,
    fit_open_set,
    known_class_probability,
    share_of_known_classes,
)
from tests.property.strategies import thorough


def even(classes: int) -> NDArray[np.float64]:
    return np.full(classes, 1 / classes)


def test_finds_how_overconfident_the_probabilities_are() -> None:
    """Answers right with the odds of their probability to the power 0.5, less with few labels, more
    where the rivals have few."""
    draws = np.random.default_rng(0)
    scarcity = np.array([0.0, 3.0, 1.0])
    rounds = []
    for _ in range(2):
        probabilities = draws.dirichlet(np.ones(3), 20_000)
        top = probabilities.argmax(axis=1)
        rest = np.where(np.arange(3) == top[:, None], 0.0, probabilities)
        rivals = (rest @ scarcity) / rest.sum(axis=1)
        truth = expit(
            0.5 * logit(probabilities.max(axis=1)) - 0.3 * scarcity[top] + 0.2 * rivals + 0.2
        )
        rounds.append((probabilities, scarcity, draws.random(top.size) < truth))
    slope, own, others, offset, practised = fit_calibration(rounds)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert own == pytest.approx(-0.3, abs=0.05)
    assert others == pytest.approx(0.2, abs=0.05)
    assert offset == pytest.approx(0.2, abs=0.1)
    assert practised == np.log(3)


def test_an_answer_that_names_a_larger_class_is_surer() -> None:
    """Equal scores, but nearly all nodes seem to be of the first class."""
    equal = np.array([[0.6, 0.4], [0.4, 0.6]])
    shares = np.array([0.9, 0.1])
    first, second = calibrated_probabilities(equal, np.zeros(2), shares, UNCALIBRATED).max(axis=1)
    assert first == pytest.approx(0.6 * 0.9 / (0.6 * 0.9 + 0.4 * 0.1))
    assert second == pytest.approx(0.5)  # the answer stays the answer


def test_among_more_classes_than_practised_answers_are_less_sure() -> None:
    draws = np.random.default_rng(0)
    # Every class is named as often.
    probabilities = np.tile(0.1 + 0.6 * np.eye(4), (50, 1))
    rounds = [(probabilities, np.zeros(4), draws.random(200) < 0.8)]
    rounds += [(np.tile(0.125 + 0.75 * np.eye(2), (100, 1)), np.zeros(2), draws.random(200) < 0.8)]
    found = fit_calibration(rounds)
    more = np.array([[0.7, *[0.3 / 7] * 7]])
    four = calibrated_probabilities(probabilities[:1], np.zeros(4), even(4), found).max()
    eight = calibrated_probabilities(more, np.zeros(8), even(8), found).max()
    assert logit(four) - logit(eight) == pytest.approx(0.5 * np.log(2))
    two = calibrated_probabilities(np.array([[0.7, 0.3]]), np.zeros(2), even(2), found).max()
    assert two == pytest.approx(four)


def test_unknown_classes_that_score_higher_are_no_use() -> None:
    assert fit_open_set(np.array([0.0, 1.0]), np.array([2.0, 3.0])) is ALWAYS_KNOWN
    assert (known_class_probability(np.array([[-30.0], [30.0]]), ALWAYS_KNOWN) > 1 - 1e-9).all()


def test_the_open_set_score_does_not_depend_on_how_many_unknown_nodes_practised() -> None:
    draws = np.random.default_rng(0)
    known, unknown = draws.normal(2.0, 1.0, 4000), draws.normal(0.0, 1.0, 4000)
    few = fit_open_set(known, unknown[:400])
    np.testing.assert_allclose(few, fit_open_set(known, unknown), rtol=0.15)
    assert known_class_probability(np.array([[1.0]]), few)[0] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("right", [True, False])
def test_practice_that_cannot_tell_changes_nothing(right: bool) -> None:
    probabilities = np.array([[0.9, 0.1], [0.6, 0.4]])
    assert fit_calibration([(probabilities, np.zeros(2), np.full(2, right))]) is UNCALIBRATED


def test_less_right_where_surer_is_not_believed() -> None:
    probabilities = np.array([[0.99, 0.01], [0.6, 0.4]] * 20)
    assert (
        fit_calibration([(probabilities, np.zeros(2), np.array([False, True] * 20))])
        is UNCALIBRATED
    )


@thorough
@given(
    st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=5),
    st.lists(st.floats(-3, 3), min_size=5, max_size=5),
)
def test_stays_a_distribution_with_the_same_answer(
    rows: list[list[float]], coefficients: list[float]
) -> None:
    probabilities = np.array(rows) + 1e-3
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    out = calibrated_probabilities(
        probabilities, np.array([0.0, 1.0, 4.0]), even(3), np.array(coefficients)
    )
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    assert (out >= 0).all()
    ranked = np.sort(probabilities, axis=1)
    clear = ranked[:, -1] > ranked[:, -2] * (1 + 1e-6)
    assert (out.argmax(axis=1) == probabilities.argmax(axis=1))[clear].all()


def test_an_unsure_answer_is_still_the_answer() -> None:
    """Practice says 5 %, the second class has 30 %: the first is put just above it."""
    out = calibrated_probabilities(
        np.array([[0.3, 0.4, 0.3]]), np.zeros(3), even(3), np.array([1.0, 0, 0, -3.0, 9.0])
    )
    assert out.argmax() == 1
    assert out[0, 1] == pytest.approx(1 / 3)


def test_unchanged_means_unchanged() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(
        calibrated_probabilities(probabilities, np.ones(3), even(3), UNCALIBRATED), probabilities
    )
    assert calibrated_probabilities(
        np.ones((2, 1)), np.ones(1), np.ones(1), UNCALIBRATED
    ).tolist() == [
        [1.0],
        [1.0],
    ]


@pytest.mark.parametrize("truth", [0.05, 0.3, 0.9])
def test_how_many_nodes_are_of_known_classes_is_seen_and_half_believed(truth: float) -> None:
    draws = np.random.default_rng(0)
    known = draws.random(20_000) < truth
    # If half of all nodes were of known classes, the log-odds of such scores would be these.
    chances = expit(2.0 * draws.normal(np.where(known, 1.0, -1.0), 1.0))
    assert logit(share_of_known_classes(chances)) == pytest.approx(0.5 * logit(truth), abs=0.05)


def test_without_unlabelled_nodes_half_are_taken_to_be_of_known_classes() -> None:
    assert share_of_known_classes(np.zeros(0)) == 0.5


def test_a_larger_share_of_known_classes_moves_every_chance_by_the_same_odds() -> None:
    scores, coefficients = np.array([[1.0], [4.0]]), np.array([1.0, -2.0])
    half = known_class_probability(scores, coefficients)
    more = known_class_probability(scores, coefficients, 0.8)
    np.testing.assert_allclose(logit(more) - logit(half), logit(0.8))
