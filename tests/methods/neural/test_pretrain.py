from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

from nodegraft.base.events import SILENT, Listener
from nodegraft.base.seeds import Seeds
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.pretraining import FullBatchTrainer, Pretraining
from nodegraft.methods.neural.prototypes import class_means, squared_distances
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

SETTING = Setting(base=5, pseudo_novel=3, validation=1, novel=1, ways=1, shots=3)


def graph_and_curriculum(sparse: bool = False, signal: float = 6.0) -> tuple[Graph, Curriculum]:
    loaded = Synthetic(nodes=600, classes=10, features=48, signal=signal, sparse=sparse).load()
    split = ClassSplit.draw(loaded.labels, SETTING, seed=0)
    return loaded.graph, ClassStream(loaded.graph, split, arrival="with-class").curriculum


def pretrained(
    settings: Pretraining,
    graph: Graph,
    curriculum: Curriculum,
    seed: int = 0,
    listener: Listener = SILENT,
) -> dict[str, Tensor]:
    encoder = GCN([graph.num_features, 32, 16], Seeds(seed).torch_generator("encoder"))
    head = settings(encoder, graph, curriculum, Seeds(seed), listener)
    assert head.shape == (len(curriculum.base), encoder.size)
    return encoder.state_dict()


class Notebook(Listener):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.accuracies: list[float] = []
        self.counts: list[tuple[str, int, int]] = []

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self.counts.append((stage, done, total))
        self.losses.append(numbers["loss"])
        self.accuracies.append(numbers["held_out"])


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return list(one) == list(other) and all(torch.equal(one[name], other[name]) for name in one)


def nearest_mean_accuracy(graph: Graph, state: dict[str, Tensor], curriculum: Curriculum) -> float:
    """On held-out nodes of the base classes, with class means of their training nodes."""
    encoder = GCN([graph.num_features, 32, 16], torch.Generator())
    encoder.load_state_dict(state)
    with torch.no_grad():
        embeddings = encoder(graph.full_batch(encoder.hops))
    train, held_out = (
        part.select(curriculum.base) for part in (curriculum.train, curriculum.held_out)
    )
    targets = [torch.from_numpy(part.targets(curriculum.base)) for part in (train, held_out)]
    means = class_means(embeddings[torch.from_numpy(train.rows())], targets[0], len(train))
    distances = squared_distances(embeddings[torch.from_numpy(held_out.rows())], means)
    return (distances.argmin(dim=1) == targets[1]).float().mean().item()


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_learns_classes_that_can_be_told_apart(sparse: bool) -> None:
    graph, curriculum = graph_and_curriculum(sparse)
    heard = Notebook()
    state = pretrained(Pretraining(max_epochs=100), graph, curriculum, listener=heard)
    assert max(heard.accuracies) > 0.9
    assert heard.losses[-1] < heard.losses[0] / 2
    assert nearest_mean_accuracy(graph, state, curriculum) > 0.9
    untrained = pretrained(Pretraining(max_epochs=0), graph, curriculum)
    assert not same(untrained, state)


def test_the_seed_decides_every_weight() -> None:
    graph, curriculum = graph_and_curriculum()
    settings = Pretraining(max_epochs=8)
    first, second, other = (pretrained(settings, graph, curriculum, seed) for seed in (0, 0, 1))
    assert same(first, second)
    assert not same(first, other)


def test_the_listener_is_told_of_every_epoch() -> None:
    graph, curriculum = graph_and_curriculum()
    heard = Notebook()
    pretrained(Pretraining(max_epochs=5), graph, curriculum, listener=heard)
    assert heard.counts == [("pretrain", epoch, 5) for epoch in range(1, 6)]
    assert all(0 <= accuracy <= 1 for accuracy in heard.accuracies)


def scrambled(labels: NodeLabels, classes: tuple[str, ...]) -> NodeLabels:
    """The same nodes of these classes, dealt among them anew."""
    rows = np.random.default_rng(0).permutation(labels.select(classes).rows())
    ends = np.cumsum([labels[name].size for name in classes])[:-1]
    dealt = dict(zip(classes, np.split(rows, ends), strict=True))
    return NodeLabels({name: dealt.get(name, labels[name]) for name in labels})


def test_pseudo_novel_labels_take_no_part() -> None:
    graph, curriculum = graph_and_curriculum(signal=1.0)
    settings = Pretraining(max_epochs=8)

    def weights_with(classes: tuple[str, ...]) -> dict[str, Tensor]:
        damaged = replace(
            curriculum,
            train=scrambled(curriculum.train, classes),
            held_out=scrambled(curriculum.held_out, classes),
        )
        return pretrained(settings, graph, damaged)

    honest = pretrained(settings, graph, curriculum)
    assert same(weights_with(curriculum.pseudo_novel), honest)
    assert not same(weights_with(curriculum.base), honest)


class Script:
    """Stands in for the evaluation: says what it is told to, and keeps the weights it was shown."""

    def __init__(self, *says: tuple[float, float]) -> None:
        self.says = list(says)
        self.shown: list[dict[str, Tensor]] = []

    def __call__(self, trainer: FullBatchTrainer, labelled: NodeLabels) -> tuple[float, float]:
        state = trainer.encoder.state_dict()
        self.shown.append({name: value.clone() for name, value in state.items()})
        return self.says[min(len(self.shown), len(self.says)) - 1]


@pytest.mark.parametrize(
    ("says", "best", "epochs"),
    [
        ([(0.5, 1.0)], 1, 4),
        ([(0.5, 1.0), (0.7, 2.0), (0.6, 3.0)], 2, 5),
        # Accuracy stands still while the loss falls: that is still progress, and breaks the tie.
        ([(0.5, 1.0), (0.5, 0.9), (0.5, 0.8), (0.5, 0.8)], 3, 6),
        # A lower loss keeps it going, but does not make a better epoch of a less accurate one.
        ([(0.6, 1.0), (0.5, 0.9), (0.5, 0.9)], 1, 5),
        ([(0.6, 1.0), (0.5, 2.0), (0.5, 2.0), (0.7, 2.0), (0.1, 2.0)], 4, 7),
        ([(0.01 * epoch, 1.0) for epoch in range(50)], 10, 10),
    ],
)
def test_the_best_epoch_is_kept_and_patience_ends(
    says: list[tuple[float, float]], best: int, epochs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate = Script(*says)
    monkeypatch.setattr(FullBatchTrainer, "evaluate", lambda *given: evaluate(*given))
    graph, curriculum = graph_and_curriculum()
    state = pretrained(Pretraining(patience=2, max_epochs=10), graph, curriculum)
    assert len(evaluate.shown) == epochs
    assert same(state, evaluate.shown[best - 1])
    assert not same(state, evaluate.shown[best % len(evaluate.shown)])


def test_training_ends_by_itself() -> None:
    graph, curriculum = graph_and_curriculum()
    heard = Notebook()
    pretrained(Pretraining(learning_rate=0.05), graph, curriculum, listener=heard)
    assert len(heard.losses) < 500


def test_plain_labels_of_a_few_nodes_are_enough() -> None:
    graph, curriculum = graph_and_curriculum()
    few = NodeLabels({name: rows[:2] for name, rows in curriculum.train.items()})
    heard = Notebook()
    pretrained(Pretraining(max_epochs=3), graph, Curriculum.from_labels(few), listener=heard)
    assert len(heard.losses) == 3
    assert all(0 < accuracy <= 1 for accuracy in heard.accuracies)


def test_a_balanced_loss_is_the_mean_over_classes() -> None:
    graph, curriculum = graph_and_curriculum()
    train = NodeLabels(
        {name: rows[: 2 + 3 * n] for n, (name, rows) in enumerate(_base(curriculum))}
    )
    encoder = GCN([graph.num_features, 32, 16], Seeds(0).torch_generator("encoder"))
    settings = Pretraining(balanced=True, dropout=0.0)
    trainer = FullBatchTrainer(settings, encoder, graph, train, Seeds(0))
    expected = np.mean([trainer.evaluate(train.select([name]))[1] for name in train])
    assert trainer.step() == pytest.approx(expected, abs=1e-5)


def _base(curriculum: Curriculum) -> Iterator[tuple[str, NDArray[np.int64]]]:
    return ((name, curriculum.train[name]) for name in curriculum.base)
