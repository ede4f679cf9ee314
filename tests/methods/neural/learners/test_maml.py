from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.operator import Neighbourhood, Operator
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.maml import HEAD, MAML, InnerLoop, LabelledBatch
from nodegraft.streams.episodes.episode import Episode
from tests.graph.reference import random_graph

GRAPH = random_graph()
SUPPORT = NodeLabels({"a": [0, 1], "b": [5, 6], "c": [21]})
QUERY = NodeLabels({"a": [2, 3], "b": [7], "c": [22, 23]})


def network(**options: Any) -> MAML:
    encoder = GCN([7, 5, 3], torch.Generator().manual_seed(3))
    return MAML(encoder, InnerLoop(**{"steps": 3, "learning_rate": 0.7} | options), Seeds(0))


def in_double(batch: LabelledBatch) -> LabelledBatch:
    """The same batch with every constant matrix in double precision, for finite differences."""

    def doubled(operator: Operator) -> Operator:
        other = Operator(np.zeros(operator.shape))
        other._forward = operator.forward_matrix.to_dense().double()
        return other

    old = batch.neighbourhood
    new = Neighbourhood(doubled(old.features), tuple(map(doubled, old.hops)), old.rings)
    return replace(batch, neighbourhood=new)


def batches() -> tuple[LabelledBatch, LabelledBatch]:
    view, encoder = GRAPH, network().encoder
    parts = (LabelledBatch.of(view, part, SUPPORT.classes, encoder) for part in (SUPPORT, QUERY))
    support, query = parts
    return in_double(support), in_double(query)


def slopes(learner: MAML) -> list[Tensor]:
    loss = learner.query_loss(*batches(), 3)
    return list(torch.autograd.grad(loss, list(learner.parameters())))


def numeric_slopes(learner: MAML, step: float = 1e-6) -> list[Tensor]:
    """Central differences of the query loss, number by number."""
    found = []
    for weight in learner.parameters():
        slope = torch.zeros_like(weight)
        for place in np.ndindex(*weight.shape):
            ends = []
            for shift in (step, -step):
                with torch.no_grad():
                    weight[place] += shift
                ends.append(learner.query_loss(*batches(), 3).item())
                with torch.no_grad():
                    weight[place] -= shift
            slope[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


def test_the_meta_gradient_goes_through_the_steps() -> None:
    learner = network().double()
    for found, truth in zip(slopes(learner), numeric_slopes(learner), strict=True):
        torch.testing.assert_close(found, truth, rtol=1e-5, atol=1e-8)


def test_first_order_is_another_gradient_at_the_same_loss() -> None:
    second, first = network().double(), network(first_order=True).double()
    pair = batches()
    assert second.query_loss(*pair, 3).item() == first.query_loss(*pair, 3).item()
    assert not any(
        torch.allclose(one, other, rtol=1e-3)
        for one, other in zip(slopes(second), slopes(first), strict=True)
    )


def test_first_order_is_the_gradient_at_the_adapted_weights() -> None:
    learner = network(first_order=True).double()
    support, query = batches()
    there = {name: value.detach() for name, value in learner.adapt(support, 3, 3).items()}
    leaves = {name: value.requires_grad_() for name, value in there.items()}
    loss = torch.nn.functional.cross_entropy(learner._scores(leaves, query), query.targets)
    inside = [value for name, value in leaves.items() if name != HEAD]
    for found, truth in zip(slopes(learner), torch.autograd.grad(loss, inside), strict=True):
        torch.testing.assert_close(found, truth)


def test_from_which_row_all_classes_start_makes_no_difference() -> None:
    learner, (support, query) = network().double(), batches()
    row = torch.tensor([[3.0, -2.0, 1.0]], dtype=torch.float64)
    weights = dict(learner.encoder.named_parameters()) | {HEAD: row.repeat(3, 1).requires_grad_()}
    for _ in range(3):
        loss = torch.nn.functional.cross_entropy(
            learner._scores(weights, support),
            support.targets,
            weight=torch.tensor([0.5, 0.5, 1.0], dtype=torch.float64),
        )
        steps = torch.autograd.grad(loss, list(weights.values()))
        weights = {
            name: value - 0.7 * step
            for (name, value), step in zip(weights.items(), steps, strict=True)
        }
    shares = torch.softmax(learner._scores(weights, query), dim=1)
    from_zero = learner._scores(learner.adapt(support, 3, 3), query)
    torch.testing.assert_close(shares, torch.softmax(from_zero, dim=1))


@pytest.mark.parametrize("order", [["c", "a", "b"], ["b", "c", "a"]])
def test_the_order_of_classes_makes_no_difference(order: list[str]) -> None:
    learner, view = network(), GRAPH
    plain = learner.loss(view, Episode((SUPPORT,), QUERY)).loss
    turned = learner.loss(view, Episode((SUPPORT.select(order),), QUERY)).loss
    assert turned.item() == pytest.approx(plain.item(), rel=1e-5)


def test_the_first_step_moves_the_head_only() -> None:
    learner = network()
    before = {name: value.clone() for name, value in learner.encoder.named_parameters()}
    batch = LabelledBatch.of(GRAPH, SUPPORT, SUPPORT.classes, learner.encoder)
    weights = learner.adapt(batch, 3, steps=1)
    assert weights.pop(HEAD).abs().max() > 0
    for name, value in weights.items():
        torch.testing.assert_close(value, before[name])


def test_adapting_fits_the_supports_and_leaves_the_network_as_it_is() -> None:
    learner, view = network(test_steps=200), GRAPH
    before = {name: value.clone() for name, value in learner.state_dict().items()}
    with torch.no_grad():
        memory = learner.learn(view, SUPPORT, None)
        scores = learner.score(view, SUPPORT.rows(), memory)
    assert scores.argmax(dim=1).tolist() == SUPPORT.targets(SUPPORT.classes).tolist()
    assert not any(value.requires_grad for value in memory.weights.values())
    assert all(torch.equal(value, before[name]) for name, value in learner.state_dict().items())


def test_few_nodes_of_the_first_classes_and_all_of_later_ones_are_kept() -> None:
    learner, view = network(base_shots=1), GRAPH
    first = learner.learn(view, SUPPORT, None)
    assert [rows.size for rows in first.supports.values()] == [1, 1, 1]
    second = learner.learn(view, NodeLabels({"new": [30, 31, 32]}), first)
    assert second.supports.classes == ("a", "b", "c", "new")
    assert second.supports["new"].size == 3
    assert second.weights[HEAD].shape == (4, 3)
