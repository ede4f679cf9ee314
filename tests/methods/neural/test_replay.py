import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural import prototypes
from nodegraft.methods.neural.prototypes import (
    coverage_maximisation,
    herding,
    influence_maximisation,
    lowest_cost_nodes,
    mean_of_feature,
)

SQUARE = torch.tensor([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0], [1.0, 1.0]])


def test_herding_keeps_the_running_mean_at_the_mean() -> None:
    # The centre is the mean; then a corner is as good as any, and its opposite puts it right.
    assert herding(SQUARE, 5) == [4, 0, 3, 1, 2]


def test_herding_on_a_line_written_out() -> None:
    # Mean 4. First 3 (off by 1); then (3 + 6) / 2 = 4.5 beats (3 + 7) / 2 = 5 and (3 + 0) / 2;
    # then (9 + 0) / 3 = 3 beats (9 + 7) / 3 = 5.33.
    assert herding(torch.tensor([[0.0], [3.0], [6.0], [7.0]]), 3) == [1, 2, 0]


def test_a_shorter_herd_is_the_start_of_a_longer_one_and_takes_nobody_twice() -> None:
    vectors = torch.randn(30, 4, generator=torch.Generator().manual_seed(0))
    vectors[10:20] = vectors[:10]
    herd = herding(vectors, 50)
    assert sorted(herd) == list(range(30))
    assert herding(vectors, 7) == herd[:7]
    assert herding(vectors, 0) == []


def test_mean_of_feature_picks_the_closest_to_the_mean_of_their_own_class() -> None:
    # Means 3 and 11: row 20 is the mean of its class, row 22 is far from it.
    labelled = NodeLabels({"a": [20, 21, 22], "b": [30, 31]})
    vectors = torch.tensor([[3.0], [1.0], [5.5], [10.0], [12.5]])
    targets, means = torch.tensor([0, 0, 0, 1, 1]), torch.tensor([[3.0], [11.0]])
    costs = mean_of_feature(vectors, targets, means)
    assert costs.tolist() == [0.0, 2.0, 2.5, 1.0, 1.5]
    assert lowest_cost_nodes(labelled, costs, 2).to_lists() == {"a": [20, 21], "b": [30, 31]}
    assert lowest_cost_nodes(labelled, costs, 1).to_lists() == {"a": [20], "b": [30]}


def test_coverage_picks_nodes_with_the_fewest_others_near() -> None:
    vectors = torch.tensor([[0.0], [2.0], [2.5], [3.0], [9.0]])
    targets = torch.tensor([0, 0, 0, 1, 1])
    # Within 1: nodes 2 and 3 are near each other; a node at exactly 1 is not near.
    assert coverage_maximisation(vectors, targets, 1.0).tolist() == [0, 0, 1, 1, 0]
    assert coverage_maximisation(vectors, targets, 1.5).tolist() == [0, 1, 1, 2, 0]
    picked = lowest_cost_nodes(
        NodeLabels({"a": [5, 6, 7], "b": [8, 9]}), torch.tensor([0, 1, 1, 2, 0]), 1
    )
    assert picked.to_lists() == {"a": [5], "b": [9]}


def test_coverage_in_blocks_is_coverage(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    targets = torch.arange(50) % 4
    expected = [
        sum(
            bool(targets[i] != targets[j]) and bool((vectors[i] - vectors[j]).norm() < 1.3)
            for j in range(50)
        )
        for i in range(50)
    ]
    assert coverage_maximisation(vectors, targets, 1.3).tolist() == expected
    monkeypatch.setattr(prototypes, "MAX_DISTANCES", 120)
    assert coverage_maximisation(vectors, targets, 1.3).tolist() == expected


def test_influence_is_the_inverse_of_the_hessians_blocks_times_the_gradient() -> None:
    draws = torch.Generator().manual_seed(1)
    vectors = torch.randn(12, 3, generator=draws, dtype=torch.float64)
    head = torch.randn(4, 3, generator=draws, dtype=torch.float64)
    targets = torch.arange(12) % 4
    damping = 0.01

    def loss(weights: Tensor) -> Tensor:
        return F.cross_entropy(vectors @ weights.T, targets) + damping / 2 * weights.square().sum()

    hessian = torch.autograd.functional.hessian(loss, head)  # type: ignore[no-untyped-call]
    expected = []
    for vector, target in zip(vectors, targets, strict=True):
        weights = head.clone().requires_grad_()
        own = F.cross_entropy(weights @ vector, target)
        (gradient,) = torch.autograd.grad(own, weights)
        moves = [torch.linalg.solve(hessian[c, :, c], gradient[c]) / 12 for c in range(4)]
        expected.append(-torch.cat(moves).norm().item())
    found = influence_maximisation(vectors.float(), targets, head.float(), damping)
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-4)


def test_influence_prefers_the_node_the_head_gets_wrong() -> None:
    vectors, head = torch.tensor([[1.0], [1.0], [-1.0]]), torch.tensor([[2.0], [-2.0]])
    costs = influence_maximisation(vectors, torch.tensor([0, 1, 1]), head, damping=0.1)
    assert costs.argmin() == 1


def test_equal_costs_keep_the_order_given() -> None:
    labelled = NodeLabels({"a": [9, 3, 7, 1]})
    assert lowest_cost_nodes(labelled, torch.zeros(4), 3).to_lists() == {"a": [9, 3, 7]}


def test_what_is_kept_is_plain_numbers() -> None:
    rows = NodeLabels({"a": np.array([5, 2])}).to_lists()["a"]
    assert [type(row) for row in rows] == [int, int]
