import numpy as np

from nodegraft.methods.linear.dual import FrozenRidge, PrimalRidge


def test_it_is_the_frozen_ridge() -> None:
    draws = np.random.default_rng(0)
    rows, later = draws.standard_normal((60, 5)), draws.standard_normal((3, 5))
    classes = draws.permutation(np.repeat([0, 1, 2], [10, 20, 30]))
    frozen = FrozenRidge.solved(rows @ rows.T, classes, 0.1)
    primal = PrimalRidge.solved(rows, classes, 0.1)
    np.testing.assert_allclose(primal.weights, (rows.T @ frozen.coefficients).T, atol=1e-10)
    shares, own = frozen.later_coefficients(rows @ later.T, np.einsum("ij,ij->i", later, later))
    expected = (rows.T @ shares + own * later.T).T
    np.testing.assert_allclose(primal.later_weights(later), expected, atol=1e-10)
