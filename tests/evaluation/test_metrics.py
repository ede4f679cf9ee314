import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.evaluation.metrics import (
    QueryOutcomes,
    accuracy_at_coverage,
    anytime_accuracy,
    average_forgetting,
    backward_transfer,
    expected_calibration_error,
    forward_transfer,
    harmonic_mean,
    performance_drop,
    relative_performance_drop,
)
from nodegraft.model.best_classes import recalls

NAN = np.nan
CONFIDENCE = np.array([0.9, 0.3, 0.7, 0.7, 0.1])
CORRECT = np.array([True, False, True, False, True])


def test_recall_is_per_class_and_unknown_where_there_is_nobody() -> None:
    targets, predicted = np.array([0, 0, 0, 1, 3]), np.array([0, 2, 0, 0, 3])
    assert recalls(targets, predicted, 5).tolist() == pytest.approx(
        [2 / 3, 0, NAN, 1, NAN], nan_ok=True
    )


@pytest.mark.parametrize(
    ("first", "second", "mean"), [(0.6, 0.3, 0.4), (0.0, 0.9, 0.0), (0.0, 0.0, 0.0), (1, 1, 1)]
)
def test_the_harmonic_mean_needs_both(first: float, second: float, mean: float) -> None:
    assert harmonic_mean(first, second) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("accuracies", "drop", "relative"),
    [
        ([0.8, 0.9, 0.6], 0.2, 0.25),
        ([0.5, 0.6], -0.1, -0.2),
        ([0.7], 0.0, 0.0),
        ([0.0, 0.0], 0.0, 0.0),
    ],
)
def test_the_drop_is_from_first_to_last(
    accuracies: list[float], drop: float, relative: float
) -> None:
    assert performance_drop(accuracies) == pytest.approx(drop)
    assert relative_performance_drop(accuracies) == pytest.approx(relative)


@pytest.mark.parametrize(
    ("recall", "forgotten"),
    [
        # Best earlier minus final: 0.9 - 0.4 and 0.6 - 0.7; the last class is new.
        ([[0.9, NAN, NAN], [0.8, 0.6, NAN], [0.4, 0.7, 0.2]], (0.5 - 0.1) / 2),
        ([[0.8, 0.6]], 0.0),
        ([[0.5], [0.5]], 0.0),
        ([[0.2], [0.5]], -0.3),
    ],
)
def test_forgetting_is_from_the_best_to_the_last(
    recall: list[list[float]], forgotten: float
) -> None:
    def answers(shares: list[float]) -> QueryOutcomes:
        """Ten nodes of every class that is there, as many of them right as asked for."""
        there = [number for number, share in enumerate(shares) if not np.isnan(share)]
        nodes = np.concatenate([10 * number + np.arange(10) for number in there])
        right = np.concatenate([np.arange(10) < round(10 * shares[number]) for number in there])
        return QueryOutcomes(nodes, nodes // 10, right)

    assert average_forgetting([answers(row) for row in recall]) == pytest.approx(forgotten)


def test_forgetting_counts_nodes_that_were_asked_in_both_sessions() -> None:
    first = QueryOutcomes(np.array([1, 3]), np.array([0, 0]), np.array([True, True]))
    # Node 3 is still known; those asked for the first time are not.
    last = QueryOutcomes(np.array([2, 3, 4]), np.array([0, 0, 0]), np.array([False, True, False]))
    assert average_forgetting([first, last]) == 0.0
    apart = QueryOutcomes(np.array([2, 4]), np.array([0, 0]), np.array([False, False]))
    assert average_forgetting([first, apart]) == 0.0


MATRIX = np.array([[0.9, 0.2, NAN], [0.7, 0.6, 0.1], [0.5, 0.8, 0.4]])


def test_metrics_of_an_accuracy_matrix_by_hand() -> None:
    # 0.9, then (0.7 + 0.6) / 2 = 0.65, then (0.5 + 0.8 + 0.4) / 3 = 0.5667: 2.1167 / 3.
    assert anytime_accuracy(MATRIX) == pytest.approx((0.9 + 0.65 + 1.7 / 3) / 3)
    # The first group loses 0.4, the second gains 0.2; the last has no later session.
    assert backward_transfer(MATRIX) == pytest.approx(-0.1)
    # 0.2 and 0.1 one session early, where an untrained model has 0.1 and 0.3.
    untrained = np.array([0.0, 0.1, 0.3])
    assert forward_transfer(MATRIX, untrained) == pytest.approx((0.1 - 0.2) / 2)


def test_one_session_has_no_transfer() -> None:
    matrix = np.array([[0.9]])
    assert anytime_accuracy(matrix) == pytest.approx(0.9)
    assert backward_transfer(matrix) is None
    assert forward_transfer(matrix, np.array([0.1])) is None


def test_calibration_error_weighs_bins_by_their_size() -> None:
    # Two bins: below a half 0.1 and 0.3 with one right; above 0.7, 0.7 and 0.9 with two right.
    low, high = abs(0.4 - 1) / 2, abs(2.3 - 2) / 3
    found = expected_calibration_error(CONFIDENCE, CORRECT, bins=2)
    assert found == pytest.approx((2 * low + 3 * high) / 5)


@pytest.mark.parametrize(
    ("confidence", "correct", "error"),
    [
        ([1.0, 1.0], [True, True], 0.0),
        ([1.0, 1.0], [False, False], 1.0),
        ([0.0, 1.0], [True, True], 0.5),
        ([0.5, 0.5], [True, False], 0.0),
        ([], [], 0.0),
    ],
)
def test_calibration_at_the_edges(
    confidence: list[float], correct: list[bool], error: float
) -> None:
    given = np.array(confidence), np.array(correct, dtype=bool)
    assert expected_calibration_error(*given) == pytest.approx(error)


@pytest.mark.parametrize(
    ("coverage", "accuracy"),
    # From the most confident on: right, right, wrong, wrong, right.
    [(1.0, 0.6), (0.8, 0.5), (0.6, 2 / 3), (0.4, 1.0), (0.2, 1.0), (0.0, 1.0)],
)
def test_refusing_leaves_the_most_confident(coverage: float, accuracy: float) -> None:
    assert accuracy_at_coverage(CONFIDENCE, CORRECT, coverage) == pytest.approx(accuracy)


@pytest.mark.parametrize("correct", [np.array([False, True]), np.array([True, False])])
def test_with_all_refused_the_surest_one_is_left(correct: NDArray[np.bool_]) -> None:
    assert accuracy_at_coverage(np.array([0.2, 0.9]), correct, 0.0) == correct[1]
