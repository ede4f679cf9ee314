import math

import numpy as np
import pytest
import torch

from nodegraft.graph.graph import Graph
from nodegraft.methods.neural.attention import (
    ClassAxisTaskAttention,
    NodeAttention,
    SetTaskAttention,
    adjust_for_centrality,
    class_weights,
    softmax_within,
    task_weights,
    weighted_means,
)
from nodegraft.methods.neural.losses import task_weighted_cross_entropy


def test_centrality_by_hand() -> None:
    # sigmoid(ln 4 * 0.5) = 1 / (1 + 4 ** -0.5) = 2 / 3
    adjusted = adjust_for_centrality(torch.tensor([0.5, 0.5]), torch.tensor([3.0, 0.0]))
    assert adjusted.tolist() == pytest.approx([2 / 3, 0.5])


def test_centrality_as_printed_gives_isolated_nodes_the_largest_weight() -> None:
    scores, degrees = torch.tensor([-1.0, -1.0]), torch.tensor([1.0, 0.0])
    paper = adjust_for_centrality(scores, degrees, "paper", epsilon=1e-6)
    assert paper.tolist() == pytest.approx([0.5, 1.0], abs=1e-5)


def test_weights_within_a_class_by_hand() -> None:
    # exp(0), exp(ln 3) = 1, 3 -> 1/4, 3/4; a class of one has weight 1
    scores = torch.tensor([0.0, math.log(3.0), 0.7])
    assert softmax_within(scores, torch.tensor([0, 0, 1]), 2).tolist() == pytest.approx(
        [0.25, 0.75, 1.0]
    )


def test_prototype_by_hand() -> None:
    means = weighted_means(
        torch.tensor([[2.0, 0.0], [0.0, 4.0], [1.0, 1.0]]),
        torch.tensor([0.25, 0.75, 1.0]),
        torch.tensor([0, 0, 1]),
        2,
    )
    assert means.tolist() == [[0.5, 3.0], [1.0, 1.0]]


def test_a_hub_and_an_isolated_node_get_finite_and_sane_weights() -> None:
    count = 10_001
    star = Graph(
        np.arange(count + 1), np.ones((count + 1, 3)), [(0, leaf) for leaf in range(1, count)]
    )
    rows = np.array([0, 1, count])
    attention = NodeAttention(3, (8, 4), torch.Generator().manual_seed(0))
    view = star
    raw = attention(view.neighbourhood(rows, 2))
    degrees = torch.from_numpy(view.degrees(rows).astype(np.float32))
    assert degrees.tolist() == [10_000.0, 1.0, 0.0]
    weights = softmax_within(
        adjust_for_centrality(raw, degrees), torch.zeros(3, dtype=torch.int64), 1
    )
    assert torch.isfinite(weights).all()
    assert weights.sum().item() == pytest.approx(1.0)
    assert 0.1 < weights.min() <= weights.max() < 0.6


def test_task_weights_by_hand() -> None:
    # dots with the last row: 0, ln 3 -> softmax 1/4, 3/4
    vectors = torch.tensor([[0.0], [math.sqrt(math.log(3.0))]])
    assert task_weights(vectors).tolist() == pytest.approx([0.25, 0.75])


def test_class_weights_by_hand() -> None:
    weights = torch.tensor([0.25, 0.75])
    assert class_weights(weights, [1, 3]).tolist() == [0.25, 0.25, 0.25, 0.25]
    assert class_weights(weights, [2, 1]).tolist() == [0.125, 0.125, 0.75]
    assert class_weights(weights, [2, 1], "classes").tolist() == [0.375, 0.375, 2.25]


def test_set_attention_takes_any_number_in_any_order() -> None:
    attention = SetTaskAttention(4, 8, torch.Generator().manual_seed(0))
    tasks = [
        torch.randn(size, 4, generator=torch.Generator().manual_seed(size)) for size in (5, 1, 3)
    ]
    vectors = attention(tasks)
    assert vectors.shape == (3, 4)
    reversed_inside = attention([task.flip(0) for task in tasks])
    torch.testing.assert_close(reversed_inside, vectors)


def test_set_attention_follows_its_equation() -> None:
    attention = SetTaskAttention(2, 3, torch.Generator().manual_seed(0))
    task = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
    by_hand = sum(attention.mlp(row[None])[0] for row in task) / 2
    torch.testing.assert_close(attention([task])[0], by_hand)


def test_class_axis_attention_maps_base_to_n() -> None:
    attention = ClassAxisTaskAttention(
        num_base_classes=5, ways=2, hidden=8, generator=torch.Generator()
    )
    vectors = attention([torch.ones(5, 4), torch.ones(2, 4), torch.ones(2, 4)])
    assert vectors.shape == (3, 8)


def test_a_task_of_one_class_weighs_one() -> None:
    attention = SetTaskAttention(4, 8, torch.Generator().manual_seed(0))
    weights = task_weights(attention([torch.ones(1, 4)]))
    assert class_weights(weights, [1]).tolist() == [1.0]


def test_loss_by_hand() -> None:
    # scores (0, 0) lose ln 2; scores (ln 3, 0) of a node of the second class lose ln 4
    scores = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]])
    targets = torch.tensor([0, 1])
    loss = task_weighted_cross_entropy(scores, targets, torch.tensor([0.5, 1.0]))
    assert loss.item() == pytest.approx((1.5 * math.log(2) + 2.0 * math.log(4)) / 2)
