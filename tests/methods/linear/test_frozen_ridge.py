import numpy as np
import pytest

from nodegraft.methods.linear.dual import FrozenRidge, dual_ridge

CLASSES = np.array([0, 1, 0, 2, 1, 0])


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    draws = np.random.default_rng(seed)
    return draws.standard_normal((6, 4)), draws.standard_normal((2, 4))


def test_first_classes_are_solved_as_by_the_dual_ridge() -> None:
    rows, _ = drawn(0)
    found = FrozenRidge.solved(rows @ rows.T, CLASSES, penalty=0.3)
    order = np.argsort(CLASSES, kind="stable")
    ranked = rows[order]
    expected = dual_ridge(ranked @ ranked.T, np.bincount(CLASSES), 0.3).coefficients
    np.testing.assert_allclose(found.coefficients[order], expected)


@pytest.mark.parametrize("seed", range(3))
def test_a_later_class_gets_the_weights_of_a_regression_with_its_mean_as_one_more_label(
    seed: int,
) -> None:
    rows, means = drawn(seed)
    found = FrozenRidge.solved(rows @ rows.T, CLASSES, penalty=0.3)
    labels, own = found.later_coefficients(rows @ means.T, (means**2).sum(axis=1))
    counts = np.bincount(CLASSES)[CLASSES]
    for place, mean in enumerate(means):
        together = np.vstack((rows, mean))
        balanced = together / np.append(counts, 1)[:, None]
        expected = np.linalg.solve(balanced.T @ together + 0.3 * np.eye(4), mean)
        weights = rows.T @ labels[:, place] + own[place] * mean
        np.testing.assert_allclose(weights, expected)


def test_a_regression_comes_back_from_its_arrays() -> None:
    rows, later = drawn(0)
    made = FrozenRidge.solved(rows @ rows.T, CLASSES, penalty=0.3)
    back = FrozenRidge.from_state(made.state(), 0.3)
    across, squares = rows @ later.T, np.einsum("ij,ij->i", later, later)
    for one, other in zip(
        made.later_coefficients(across, squares),
        back.later_coefficients(across, squares),
        strict=True,
    ):
        assert np.array_equal(one, other)
