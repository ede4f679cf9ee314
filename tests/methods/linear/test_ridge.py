import numpy as np
import torch

from nodegraft.methods.linear.ridge import balanced_moments, ridge_weights, with_bias


def test_moments_weigh_classes_alike_whatever_their_size() -> None:
    many, few = torch.tensor([[1.0, 0.0]]).repeat(100, 1), torch.tensor([[0.0, 3.0]])
    gram, means = balanced_moments([many, few])
    np.testing.assert_allclose(gram, [[1.0, 0.0], [0.0, 9.0]])
    np.testing.assert_allclose(means, [[1.0, 0.0], [0.0, 3.0]])


def test_the_penalty_does_not_depend_on_the_length_of_vectors() -> None:
    draws = torch.Generator().manual_seed(0)
    rows = [torch.randn(5, 3, generator=draws, dtype=torch.float64) for _ in range(4)]
    queries = torch.randn(6, 3, generator=draws, dtype=torch.float64)
    guesses = []
    for length in (1.0, 1000.0):
        moments = balanced_moments(with_bias(length * one) for one in rows)
        guesses.append(with_bias(length * queries) @ ridge_weights(*moments, penalty=0.3).T)
    np.testing.assert_allclose(guesses[0], guesses[1], rtol=1e-8)


def test_rows_of_zeros_can_be_regressed_on() -> None:
    moments = balanced_moments(with_bias(torch.zeros(2, 3)) for _ in range(4))
    np.testing.assert_allclose(ridge_weights(*moments, penalty=0.1)[:, -1], 0.25)
