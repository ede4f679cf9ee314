"""Gradient steps, written out: what methods that train on in a session are held against."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.templates.classifying import Classifier, Classifying
from tests.contract.streams import small_stream

SOME_STEPS: dict[str, Any] = {"max_epochs": 10, "steps": 5, "dropout": 0.0, "weight_decay": 0.0}


def lesson() -> tuple[Graph, NodeLabels, NodeLabels]:
    """A graph in which all is visible, its known classes, and five nodes of each new one."""
    stream = small_stream()
    split = stream.split
    new = {name: split.members[name][:5] for name in split.novel}
    return stream._graph, split.train, NodeLabels(new)


def many_sessions(count: int) -> tuple[Graph, NodeLabels, list[NodeLabels]]:
    """A graph with its known classes, and sessions of changing size; no node has two classes."""
    graph, labels = BlockModel(nodes=24 * count + 200, classes=5, sparse=True, features=40).draw()
    draws = np.random.default_rng(0)
    nodes = iter(draws.permutation(graph.num_nodes).tolist())
    known: dict[str, list[int]] = {name: [] for name in labels}
    for _ in range(100):
        row = next(nodes)
        (name,) = (name for name, rows in labels.items() if row in rows)
        known[name].append(row)
    sessions = []
    for session in range(count):
        ways, shots = int(draws.integers(1, 4)), int(draws.integers(1, 8))
        classes = {f"{session}-{way}": [next(nodes) for _ in range(shots)] for way in range(ways)}
        sessions.append(NodeLabels(classes))
    return graph, NodeLabels(known), sessions


def steps_by_hand(
    model: Any, graph: Graph, support: NodeLabels, loss: Callable[[Tensor], Tensor]
) -> Classifier:
    """The model's classifier after steps of plain Adam on a loss of the scores of all nodes."""
    classifier = copy.deepcopy(model).grown(support)
    optimiser = torch.optim.Adam(classifier.parameters(), lr=model.learning_rate, fused=False)
    for _ in range(model.steps):
        optimiser.zero_grad()
        scores = classifier(graph.full_batch(classifier.hops))
        loss(scores).backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    trained: Classifier = classifier
    return trained


def assert_holds(model: Classifying, expected: Classifier) -> None:
    """Weights agree; only where a gradient is all rounding may Adam step the other way."""
    found = dict(model.classifier().named_parameters())
    for name, weight in expected.named_parameters():
        assert found[name].shape == weight.shape
        assert ((found[name] - weight).abs() < 1e-5).float().mean() > 0.99, name
