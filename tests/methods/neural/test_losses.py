import math

import pytest
import torch

from nodegraft.methods.neural.losses import distillation_loss


def test_distillation_is_the_divergence_of_softened_answers() -> None:
    # The teacher's (2 log 3, 0) at temperature 2 is (3/4, 1/4); scores of zero are (1/2, 1/2).
    teacher = torch.tensor([[2 * math.log(3.0), 0.0], [0.0, 0.0]])
    divergence = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    found = distillation_loss(torch.zeros(2, 2), teacher, temperature=2.0)
    assert found.item() == pytest.approx(4 * divergence / 2, abs=1e-6)


def test_distillation_is_zero_where_both_agree() -> None:
    teacher = torch.tensor([[1.0, -2.0, 0.5]])
    assert distillation_loss(teacher, teacher, 3.0).item() == pytest.approx(0.0, abs=1e-6)
    assert distillation_loss(teacher + 5.0, teacher, 3.0).item() == pytest.approx(0.0, abs=1e-5)


def test_its_gradient_does_not_shrink_with_the_temperature() -> None:
    # For small scores the gradient is (s - t) / classes at any temperature.
    teacher = torch.tensor([[0.01, -0.01]])
    for temperature in (1.0, 10.0):
        scores = torch.zeros(1, 2, requires_grad=True)
        distillation_loss(scores, teacher, temperature).backward()  # type: ignore[no-untyped-call]
        assert scores.grad is not None
        torch.testing.assert_close(scores.grad, -teacher / 2, rtol=1e-3, atol=1e-6)
