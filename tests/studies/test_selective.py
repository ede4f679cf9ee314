import numpy as np
import pytest
from studies.selective import balanced_weights, precision_and_coverage, risk_coverage

CONFIDENCE = np.array([0.9, 0.3, 0.7, 0.7, 0.1])
CORRECT = np.array([True, False, True, False, True])


@pytest.mark.parametrize(
    ("at_least", "precision", "coverage"),
    [(0.0, 0.6, 1.0), (0.7, 2 / 3, 0.6), (0.71, 1.0, 0.2), (0.95, np.nan, 0.0)],
)
def test_precision_is_of_what_is_accepted(
    at_least: float, precision: float, coverage: float
) -> None:
    found = precision_and_coverage(CONFIDENCE, CORRECT, at_least)
    assert found == pytest.approx((precision, coverage), nan_ok=True)


def test_classes_of_any_size_weigh_alike() -> None:
    targets = np.array([7, 2, 7, 7])
    weights = balanced_weights(targets)
    assert weights[targets == 7].sum() == pytest.approx(weights[targets == 2].sum())
    # Two of the three are accepted, one of them right; and the one, which is right.
    confidence, correct = np.array([0.9, 0.9, 0.9, 0.1]), np.array([True, True, False, True])
    precision, coverage = precision_and_coverage(confidence, correct, 0.5, weights)
    assert (precision, coverage) == pytest.approx(((1 / 3 + 1) / (2 / 3 + 1), (2 / 3 + 1) / 2))


def test_risk_rises_as_less_sure_answers_are_given() -> None:
    # From the most confident on: right, right or wrong (a tie), wrong, right.
    found = risk_coverage(CONFIDENCE, CORRECT, np.array([0.2, 0.4, 0.6, 0.8, 1.0]))
    assert found.tolist() == pytest.approx([0, 0.5 / 2, 1 / 3, 2 / 4, 2 / 5])


def test_the_order_of_equally_sure_answers_does_not_matter() -> None:
    coverages, confidence = np.arange(1, 11) / 10, np.array([0.9, 0.5, 0.5, 0.5, 0.5])
    correct = np.array([True, True, True, False, False])
    backwards = risk_coverage(confidence[::-1], correct[::-1], coverages)
    assert risk_coverage(confidence, correct, coverages) == pytest.approx(backwards)


@pytest.mark.parametrize("at_least", [0.1, 0.3, 0.7, 0.9])
def test_a_level_is_a_point_of_the_risk_coverage_curve(at_least: float) -> None:
    weights = np.array([1.0, 2.0, 0.5, 3.0, 1.0])
    precision, coverage = precision_and_coverage(CONFIDENCE, CORRECT, at_least, weights)
    risk = risk_coverage(CONFIDENCE, CORRECT, np.array([coverage]), weights)
    assert risk == pytest.approx([1 - precision])
