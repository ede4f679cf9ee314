import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from nodegraft.nn.confidence import (
    ALWAYS_KNOWN,
    UNCALIBRATED,
    calibrated_probabilities,
    fit_calibration,
    fit_open_set,
    known_class_probability,
)
from tests.property.strategies import thorough


def test_finds_how_overconfident_the_probabilities_are() -> None:
    """Answers right with the odds of their probability to the power 0.5, less with few labels."""
    draws = np.random.default_rng(0)
    scarcity = np.array([0.0, 3.0])
    rounds = []
    for _ in range(2):
        first = draws.uniform(0.02, 0.98, 20_000)
        probabilities = np.stack((first, 1 - first), axis=1)
        own = scarcity[probabilities.argmax(axis=1)]
        truth = expit(0.5 * logit(probabilities.max(axis=1)) - 0.3 * own + 0.2)
        rounds.append((probabilities, scarcity, draws.random(first.size) < truth))
    slope, trust, offset, practised = fit_calibration(rounds)
    assert slope == pytest.approx(0.5, abs=0.05)
    assert trust == pytest.approx(-0.3, abs=0.03)
    assert offset == pytest.approx(0.2, abs=0.05)
    assert practised == np.log(2)


def test_among_more_classes_than_practised_answers_are_less_sure() -> None:
    draws = np.random.default_rng(0)
    probabilities = np.array([[0.7, 0.1, 0.1, 0.1]] * 200)
    rounds = [(probabilities, np.zeros(4), draws.random(200) < 0.8)]
    rounds += [(probabilities[:, :2] / 0.8, np.zeros(2), draws.random(200) < 0.8)]
    found = fit_calibration(rounds)
    more = np.array([[0.7, *[0.3 / 7] * 7]])
    four = calibrated_probabilities(probabilities[:1], np.zeros(4), found).max()
    eight = calibrated_probabilities(more, np.zeros(8), found).max()
    assert logit(four) - logit(eight) == pytest.approx(0.5 * np.log(2))
    two = calibrated_probabilities(np.array([[0.7, 0.3]]), np.zeros(2), found).max()
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
    st.lists(st.floats(-3, 3), min_size=4, max_size=4),
)
def test_stays_a_distribution_with_the_same_answer(
    rows: list[list[float]], coefficients: list[float]
) -> None:
    probabilities = np.array(rows) + 1e-3
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    out = calibrated_probabilities(probabilities, np.array([0.0, 1.0, 4.0]), np.array(coefficients))
    np.testing.assert_allclose(out.sum(axis=1), 1.0)
    assert (out >= 0).all()
    ranked = np.sort(probabilities, axis=1)
    clear = ranked[:, -1] > ranked[:, -2] * (1 + 1e-6)
    assert (out.argmax(axis=1) == probabilities.argmax(axis=1))[clear].all()


def test_an_unsure_answer_is_still_the_answer() -> None:
    """Practice says 5 %, the second class has 30 %: the first is put just above it."""
    out = calibrated_probabilities(
        np.array([[0.3, 0.4, 0.3]]), np.zeros(3), np.array([1.0, 0, -3.0, 9.0])
    )
    assert out.argmax() == 1
    assert out[0, 1] == pytest.approx(1 / 3)


def test_unchanged_means_unchanged() -> None:
    probabilities = np.array([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8]])
    np.testing.assert_allclose(
        calibrated_probabilities(probabilities, np.ones(3), UNCALIBRATED), probabilities
    )
    assert calibrated_probabilities(np.ones((2, 1)), np.ones(1), UNCALIBRATED).tolist() == [
        [1.0],
        [1.0],
    ]
