import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.methods.linear.dual import dual_lda, dual_ridge

Floats = NDArray[np.float64]


def labelled(seed: int, width: int = 7) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    draws = np.random.default_rng(seed)
    counts = draws.integers(1, 6, size=4)
    return draws.standard_normal((counts.sum(), width)), counts, np.repeat(np.arange(4), counts)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("penalty", [0.01, 1.0])
def test_ridge_is_the_primal_solution(seed: int, penalty: float) -> None:
    rows, counts, classes = labelled(seed)
    weights = 1.0 / counts[classes]
    gram = rows.T @ (weights[:, None] * rows) + penalty * np.eye(rows.shape[1])
    means = np.stack([rows[classes == number].mean(axis=0) for number in range(4)])
    primal = np.linalg.solve(gram, means.T)
    asked = np.random.default_rng(9).standard_normal((10, rows.shape[1]))
    head = dual_ridge(rows @ rows.T, counts, penalty)
    scores = asked @ rows.T @ head.coefficients + head.offsets
    np.testing.assert_allclose(scores, asked @ primal, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("shrinkage", [0.01, 0.5])
def test_discriminants_are_the_primal_solution(seed: int, shrinkage: float) -> None:
    rows, counts, classes = labelled(seed)
    means = np.stack([rows[classes == number].mean(axis=0) for number in range(4)])
    around = rows - means[classes]
    covariance = around.T @ around / len(rows)
    variance = covariance.diagonal().mean()
    shrunk = (1 - shrinkage) * covariance + shrinkage * variance * np.eye(rows.shape[1])
    weights = np.linalg.solve(shrunk, means.T)
    offsets = -0.5 * (weights * means.T).sum(axis=0)
    asked = np.random.default_rng(9).standard_normal((10, rows.shape[1]))
    head = dual_lda(rows @ rows.T, counts, shrinkage, rows.shape[1])
    scores = asked @ rows.T @ head.coefficients + head.offsets
    np.testing.assert_allclose(scores, asked @ weights + offsets, atol=1e-8)


def test_discriminants_of_single_labels_exist() -> None:
    rows = np.eye(3)
    head = dual_lda(rows @ rows.T, np.array([1, 1, 1]), 0.1, 3)
    assert (rows @ rows.T @ head.coefficients + head.offsets).argmax(axis=1).tolist() == [0, 1, 2]
