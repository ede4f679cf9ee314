import numpy as np
import torch
import torch.nn.functional as F

from nodegraft.base.events import Listener
from nodegraft.graph.graph import Graph
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.templates.classifying import Classifier, Finetuning
from tests.graph.reference import random_graph

ROWS, TARGETS = np.array([9, 3, 9, 20]), torch.tensor([0, 1, 0, 2])


def tuned(
    steps: int, dropout: float = 0.5, seed: int = 0, graph: Graph | None = None
) -> Classifier:
    encoder = GCN([7, 8, 4], torch.Generator().manual_seed(0))
    head = torch.randn(3, 4, generator=torch.Generator().manual_seed(1))
    classifier = Classifier(encoder, head)
    view = graph or random_graph()
    Finetuning(steps=steps, dropout=dropout, learning_rate=0.05)(
        classifier,
        view,
        ROWS,
        lambda scores: F.cross_entropy(scores, TARGETS),
        np.random.default_rng(seed),
    )
    return classifier


def same(one: Classifier, other: Classifier) -> bool:
    pairs = zip(one.parameters(), other.parameters(), strict=True)
    return all(torch.equal(*pair) for pair in pairs)


def test_fits_the_rows_it_is_given_in_their_order() -> None:
    model = tuned(100, dropout=0.0)
    scores = model(random_graph().neighbourhood(np.array([3, 9, 20]), 2))
    assert scores.argmax(dim=1).tolist() == [1, 0, 2]


def test_dropout_comes_from_the_generator_alone() -> None:
    assert same(tuned(5), tuned(5))
    assert not same(tuned(5), tuned(5, seed=1))
    assert same(tuned(5, dropout=0.0), tuned(5, dropout=0.0, seed=1))


def test_no_step_changes_nothing() -> None:
    assert same(tuned(0), tuned(0, seed=1))
    assert not same(tuned(0), tuned(1))


def test_nodes_out_of_reach_take_no_part() -> None:
    graph = random_graph()
    neighbourhood = graph.neighbourhood(np.unique(ROWS), 2)
    far = np.setdiff1d(np.arange(graph.num_nodes), neighbourhood.rings[0])
    assert far.size
    features = np.asarray(graph.features(np.arange(graph.num_nodes))).copy()
    features[far] += 3.0
    damaged = Graph.from_parts(graph._store.keys, features, graph._adjacency)
    assert same(tuned(5), tuned(5, graph=damaged))


def test_the_listener_is_told_of_every_step() -> None:
    class Heard(Listener):
        def __init__(self) -> None:
            self.told: list[tuple[str, int, int]] = []

        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            self.told.append((stage, done, total))
            assert numbers["loss"] > 0

    heard, model = Heard(), tuned(0)
    Finetuning(steps=3)(
        model,
        random_graph(),
        ROWS,
        lambda scores: F.cross_entropy(scores, TARGETS),
        np.random.default_rng(0),
        heard,
    )
    assert heard.told == [("finetune", number, 3) for number in (1, 2, 3)]
