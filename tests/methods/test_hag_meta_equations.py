"""Every equation of the paper (Sections 4.2.1 and 4.2.2), computed again by dense NumPy.

The left-hand sides come from the network as HAG-Meta trains it, on a graph of twelve nodes with a
base task of two classes and one few-shot task. Where the paper contradicts itself, this is the
reading of ``docs/explanation/hag-meta.md``.
"""

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural.attention import SetTaskAttention
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.hag import HAGNetwork, HAGOptions
from nodegraft.streams.episodes.episode import Episode

Array = NDArray[np.float64]

NODES, FEATURES, HIDDEN, OUT = 12, 4, 6, 3
EDGES = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (2, 6), (6, 7), (7, 8), (8, 6), (9, 10), (5, 9)]
BASE = NodeLabels({"hats": [0, 1, 2], "shoes": [3, 4]})
NOVEL = NodeLabels({"tents": [6, 7], "bikes": [9, 11]})
QUERY = NodeLabels({"hats": [5], "tents": [8], "bikes": [10]})
EPISODE = Episode((BASE, NOVEL), QUERY)


def softmax(scores: Array) -> Array:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Array = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def numbers(weights: Tensor) -> Array:
    return weights.detach().numpy().astype(np.float64)


@dataclass
class Paper:
    """The paper's formulas with the weights of a network."""

    network: HAGNetwork
    graph: Graph
    features: Array
    adjacency: Array

    def gcn(self, layers: GCN, last_relu: bool) -> Array:
        looped = self.adjacency + np.eye(NODES)
        root = np.sqrt(looped.sum(axis=1))
        normalised = looped / root[:, None] / root
        first, second = map(numbers, layers.weights)
        hidden = np.maximum(normalised @ self.features @ first + numbers(layers.biases[0]), 0)
        out: Array = normalised @ hidden @ second + numbers(layers.biases[1])
        return np.maximum(out, 0) if last_relu else out

    @property
    def latent(self) -> Array:
        """Equation 1."""
        return self.gcn(self.network.encoder, last_relu=False)

    @property
    def raw_scores(self) -> Array:
        """Equations 9 and 10."""
        attention = self.network.node_attention
        hidden = self.gcn(attention.layers, last_relu=True)
        scores: Array = hidden @ numbers(attention.weight)[0] + numbers(attention.bias)[0]
        return scores

    def node_weights(self, support: NodeLabels) -> list[Array]:
        """Equations 11 and 12, class by class."""
        centrality = np.log1p(self.adjacency.sum(axis=1))
        adjusted = 1 / (1 + np.exp(-centrality * self.raw_scores))
        return [softmax(adjusted[rows]) for rows in support.values()]

    def means(self, support: NodeLabels) -> Array:
        """Equation 2."""
        return np.stack([self.latent[rows].mean(axis=0) for rows in support.values()])

    def prototypes(self, support: NodeLabels) -> Array:
        """Equation 13."""
        parts = zip(self.node_weights(support), support.values(), strict=True)
        return np.stack([weights @ self.latent[rows] for weights, rows in parts])

    @property
    def tasks(self) -> list[Array]:
        return [self.means(BASE), self.prototypes(NOVEL)]

    @property
    def distances(self) -> Array:
        apart = self.latent[QUERY.rows()][:, None] - np.concatenate(self.tasks)
        squared: Array = (apart**2).sum(axis=2)
        return squared

    def task_vector(self, prototypes: Array) -> Array:
        """Equation 4, with the mean over a task's classes."""
        attention = self.network.task_attention
        assert isinstance(attention, SetTaskAttention)
        mlp, hidden = attention.mlp, prototypes
        for place, (weight, bias) in enumerate(zip(mlp.weights, mlp.biases, strict=True)):
            hidden = (np.maximum(hidden, 0) if place else hidden) @ numbers(weight).T
            hidden = hidden + numbers(bias)
        mean: Array = hidden.mean(axis=0)
        return mean

    @property
    def task_weights(self) -> Array:
        """Equation 5, for the last task."""
        vectors = np.stack([self.task_vector(task) for task in self.tasks])
        return softmax(vectors @ vectors[-1])

    @property
    def class_weights(self) -> Array:
        """Equation 6."""
        shares = zip(self.task_weights, self.tasks, strict=True)
        return np.concatenate([np.full(len(task), share / len(task)) for share, task in shares])


@pytest.fixture
def paper() -> Paper:
    draws = np.random.default_rng(3)
    features = draws.normal(size=(NODES, FEATURES))
    graph = Graph(np.arange(NODES), features, EDGES)
    adjacency = np.zeros((NODES, NODES))
    for one, other in EDGES:
        adjacency[one, other] = adjacency[other, one] = 1
    generator = torch.Generator().manual_seed(3)
    encoder = GCN([FEATURES, HIDDEN, OUT], generator)
    network = HAGNetwork(
        encoder, HAGOptions(nla_start="wide"), num_base_classes=2, ways=2, generator=generator
    )
    with torch.no_grad():
        # Biases start at zero: formulas that forget one would go unnoticed.
        for weights in network.parameters():
            weights.add_(torch.randn(weights.shape, generator=generator), alpha=0.3)
    return Paper(network, graph, features, adjacency)


def close(given: Tensor, expected: Array) -> None:
    np.testing.assert_allclose(numbers(given), expected, rtol=1e-4, atol=1e-5)


def test_equation_1_latent_features_are_the_encoders(paper: Paper) -> None:
    rows = np.arange(NODES)
    close(paper.network.embed(paper.graph, rows), paper.latent)


def test_equation_2_prototypes_of_many_labels_are_means(paper: Paper) -> None:
    close(paper.network.prototypes(paper.graph, BASE, few_shot=False), paper.means(BASE))


def test_equation_3_scores_are_minus_squared_distances(paper: Paper) -> None:
    embedded = paper.network.embed_episode(paper.graph, EPISODE)
    close(embedded.scores, -paper.distances)
    close(torch.softmax(embedded.scores, dim=1), softmax(-paper.distances))


def test_equation_4_a_task_is_the_mean_of_its_projected_prototypes(paper: Paper) -> None:
    tasks = [torch.tensor(task, dtype=torch.float32) for task in paper.tasks]
    expected = np.stack([paper.task_vector(task) for task in paper.tasks])
    close(paper.network.task_attention(tasks), expected)


def test_equation_5_tasks_are_weighed_by_a_softmax_of_products(paper: Paper) -> None:
    tasks = [torch.tensor(task, dtype=torch.float32) for task in paper.tasks]
    close(paper.network.weigh_tasks(tasks), paper.task_weights)
    assert np.ptp(paper.task_weights) > 0.01


def test_equations_6_to_8_the_loss_weighs_every_class_by_its_task(paper: Paper) -> None:
    targets = EPISODE.targets
    chances = softmax(-paper.distances)[np.arange(targets.size), targets]
    expected = np.mean((1 + paper.class_weights[targets]) * -np.log(chances))
    assert paper.network.loss(paper.graph, EPISODE).loss.item() == pytest.approx(expected, rel=1e-4)
    assert paper.class_weights.sum() == pytest.approx(1)


def test_equations_9_and_10_a_node_is_valued_by_a_gcn_and_one_layer(paper: Paper) -> None:
    rows = np.arange(NODES)
    neighbourhood, places = paper.graph.around(rows, 2)
    close(paper.network.node_attention(neighbourhood)[torch.from_numpy(places)], paper.raw_scores)


def test_equations_11_and_12_weights_follow_degrees_and_sum_to_one(paper: Paper) -> None:
    given = paper.network.support_weights(paper.graph, NOVEL)
    expected = np.concatenate(paper.node_weights(NOVEL))
    close(given, expected)
    assert np.ptp(expected) > 0.01


def test_equation_13_few_shot_prototypes_are_weighted_means(paper: Paper) -> None:
    given = paper.network.prototypes(paper.graph, NOVEL, few_shot=True)
    close(given, paper.prototypes(NOVEL))
    assert not np.allclose(numbers(given), paper.means(NOVEL), atol=1e-3)
