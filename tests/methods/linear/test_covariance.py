import numpy as np
import torch
from sklearn.covariance import shrunk_covariance

from nodegraft.methods.linear.ridge import shrink_covariance, within_class_scatter

ROWS = torch.tensor([[0.0, 0.0], [2.0, 4.0], [5.0, 5.0]])


def test_scatter_by_hand() -> None:
    means = torch.tensor([[1.0, 2.0], [5.0, 5.0]])
    found = within_class_scatter(ROWS, torch.tensor([0, 0, 1]), means)
    assert found.tolist() == [[2.0, 4.0], [4.0, 8.0]]


def test_shrinking_is_that_of_scikit_learn() -> None:
    covariance = torch.tensor([[2.0, 1.0], [1.0, 4.0]], dtype=torch.float64)
    np.testing.assert_allclose(
        shrink_covariance(covariance, 0.2), shrunk_covariance(covariance.numpy(), 0.2)
    )


def test_no_variance_at_all_can_still_be_inverted() -> None:
    assert shrink_covariance(torch.zeros(2, 2), 0.5).tolist() == [[0.5, 0.0], [0.0, 0.5]]
