import pytest
import torch

from nodegraft.methods.neural.prototypes import class_means, cosines, squared_distances

POINTS = torch.tensor([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]])


def test_means_by_hand() -> None:
    means = class_means(POINTS, torch.tensor([2, 0, 2]), 4)
    assert means.tolist() == [[3.0, 4.0], [0.0, 0.0], [0.5, 0.5], [0.0, 0.0]]


def test_means_pass_their_gradient_on_evenly() -> None:
    points = POINTS.clone().requires_grad_()
    means = class_means(points, torch.tensor([0, 0, 1]), 2)
    (gradient,) = torch.autograd.grad(means.sum(), points)
    assert gradient.tolist() == [[0.5, 0.5], [0.5, 0.5], [1.0, 1.0]]


def test_distances_by_hand() -> None:
    found = squared_distances(POINTS, torch.tensor([[0.0, 0.0], [1.0, 0.0]]))
    torch.testing.assert_close(found, torch.tensor([[0.0, 1.0], [25.0, 20.0], [2.0, 1.0]]))


def test_far_from_the_origin_small_distances_survive() -> None:
    # The expanded form |z|^2 - 2zp + |p|^2 gives 0 here.
    far = torch.tensor([[10_000.0, 10_000.0]])
    assert squared_distances(far, far + 0.25).item() == pytest.approx(0.125)


def test_a_row_is_the_same_alone_and_among_many() -> None:
    draws = torch.Generator().manual_seed(0)
    rows, means = torch.randn(500, 16, generator=draws), torch.randn(40, 16, generator=draws)
    together = squared_distances(rows, means)
    for row in (0, 123, 499):
        assert torch.equal(squared_distances(rows[row : row + 1], means)[0], together[row])


def test_cosines_by_hand() -> None:
    found = cosines(POINTS[1:], torch.tensor([[6.0, 8.0], [-4.0, 3.0], [-1.0, -1.0]]))
    expected = torch.tensor([[1.0, 0.0, -0.98994949], [0.98994949, -0.14142136, -1.0]])
    torch.testing.assert_close(found, expected)
