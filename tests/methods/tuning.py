"""Gradient steps, written out: what methods that train on in a session are held against."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.methods.tuned import Tuned
from nodegraft.nn.classifier import Classifier
from tests.contract.streams import small_stream

SOME_STEPS: dict[str, Any] = {"max_epochs": 10, "steps": 5, "dropout": 0.0, "weight_decay": 0.0}


def lesson() -> tuple[Graph, Labelled, Labelled]:
    """A graph in which all is visible, its known classes, and five nodes of each new one."""
    stream = small_stream()
    split = stream.split
    new = {name: split.members[name][:5] for name in split.novel}
    return stream._graph, split.train, Labelled(new)


def steps_by_hand(
    model: Tuned, graph: Graph, support: Labelled, loss: Callable[[Tensor], Tensor]
) -> Classifier:
    """The model's classifier after steps of plain Adam on a loss of the scores of all nodes."""
    classifier = copy.deepcopy(model).grown(support)
    optimiser = torch.optim.Adam(classifier.parameters(), lr=model.learning_rate, fused=False)
    for _ in range(model.steps):
        optimiser.zero_grad()
        scores = classifier(graph.whole.whole(classifier.hops))
        loss(scores).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return classifier


def assert_holds(model: Tuned, expected: Classifier) -> None:
    """Weights agree; only where a gradient is all rounding may Adam step the other way."""
    found = dict(model.classifier().named_parameters())
    for name, weight in expected.named_parameters():
        assert found[name].shape == weight.shape
        assert ((found[name] - weight).abs() < 1e-5).float().mean() > 0.99, name
