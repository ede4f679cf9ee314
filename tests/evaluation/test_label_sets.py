"""Metrics of sets of classes agree with scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, f1_score

from nodegraft.evaluation.label_sets import average_precisions, label_set_metrics


@pytest.mark.parametrize("digits", [9, 1])
def test_metrics_are_those_of_scikit_learn(digits: int) -> None:
    """One digit makes many scores equal."""
    generator = np.random.default_rng(0)
    scores, truth = generator.random((50, 4)).round(digits), generator.random((50, 4)) < 0.3
    predicted = scores > 0.6
    found = label_set_metrics(scores, predicted, truth)
    assert found.nodes == 50
    assert found.macro_f1 == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert found.micro_f1 == pytest.approx(f1_score(truth, predicted, average="micro"))
    expected = average_precision_score(truth, scores, average=None)
    assert average_precisions(scores, truth) == pytest.approx(expected)
    assert found.mean_average_precision == pytest.approx(np.mean(expected))
    assert found.coverage == pytest.approx(predicted.any(axis=1).mean())
