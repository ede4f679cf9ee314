import numpy as np
import pytest
import torch

from nodegraft.base.events import Listener
from nodegraft.base.seeds import Seeds
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.learners.hag import HAGNetwork, HAGOptions
from nodegraft.methods.neural.meta_training import MetaTraining, rehearsal_accuracy
from nodegraft.streams.episodes.gpil import GPIL
from nodegraft.streams.stream import ClassStream
from tests.contract.streams import small_stream


def network(stream: ClassStream, options: HAGOptions | None = None) -> HAGNetwork:
    features = stream.session(0).view.num_features
    encoder = GCN([features, 8, 4], Seeds(0).torch_generator("encoder"))
    return HAGNetwork(
        encoder,
        options or HAGOptions(),
        num_base_classes=3,
        ways=2,
        generator=Seeds(0).torch_generator("heads"),
    )


def sampler(stream: ClassStream) -> GPIL:
    split = stream.split
    return GPIL(train=split.train, pseudo_novel=split.pseudo_novel, ways=2, shots=3, queries=3)


def loss_of(options: HAGOptions) -> float:
    stream = small_stream()
    episode = next(sampler(stream).episodes(np.random.default_rng(0)))
    return float(network(stream, options).loss(stream.session(0).view, episode).loss.item())


@pytest.mark.parametrize(
    "other",
    [
        HAGOptions(nla=False),
        HAGOptions(tla="off"),
        HAGOptions(tla="class-axis"),
        HAGOptions(tla_scale="classes"),
        HAGOptions(nla_normalise="session"),
        HAGOptions(nla_for="all"),
        HAGOptions(centrality="paper"),
    ],
)
def test_every_option_changes_the_loss(other: HAGOptions) -> None:
    assert loss_of(other) != loss_of(HAGOptions())
    assert np.isfinite(loss_of(other))


def test_weights_of_a_class_sum_to_one_and_of_a_session_too() -> None:
    stream = small_stream()
    view, support = stream.session(0).view, stream.split.train.select(stream.split.known[:2])
    by_class = network(stream).support_weights(view, support).detach().numpy()
    sizes = [rows.size for rows in support.values()]
    assert [part.sum() for part in np.split(by_class, [sizes[0]])] == pytest.approx([1, 1])
    session = HAGOptions(nla_normalise="session")
    assert network(stream, session).support_weights(view, support).sum().item() == pytest.approx(1)


def test_without_attention_a_prototype_is_the_mean() -> None:
    stream = small_stream()
    view, support = stream.session(0).view, stream.split.train.select(stream.split.known[:1])
    plain = network(stream, HAGOptions(nla=False))
    mean = plain.embed(view, support.rows()).mean(dim=0)
    torch.testing.assert_close(plain.prototypes(view, support, few_shot=True)[0], mean)


def test_many_labels_take_the_mean_unless_attention_is_for_all() -> None:
    assert not network(small_stream()).uses_attention(few_shot=False)
    assert network(small_stream(), HAGOptions(nla_for="all")).uses_attention(few_shot=False)
    assert not network(small_stream(), HAGOptions(nla=False, nla_for="all")).uses_attention(
        few_shot=True
    )


def test_one_step_reaches_all_three_parts() -> None:
    stream = small_stream()
    learner = network(stream, HAGOptions(tla_scale="classes"))
    episode = next(sampler(stream).episodes(np.random.default_rng(0)))
    learner.loss(stream.session(0).view, episode).loss.backward()  # type: ignore[no-untyped-call]
    for part in (learner.encoder, learner.node_attention, learner.task_attention):
        gradients = [weight.grad for weight in part.parameters() if weight.grad is not None]
        assert any(bool(gradient.abs().sum() > 0) for gradient in gradients)


def test_practice_helps_on_validation_classes_and_the_best_is_kept() -> None:
    stream = small_stream(sparse=False)
    learner = network(stream)
    rehearse = stream.curriculum.rehearsal
    assert rehearse is not None
    before = rehearsal_accuracy(learner, list(rehearse))
    heard: list[float] = []
    shown: dict[str, float] = {}

    class Ear(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            assert stage == "meta-train"
            heard.append(numbers.get("validation", 0.0))
            shown.update(numbers)

    episodes = sampler(stream).episodes(np.random.default_rng(0))
    train = MetaTraining(episodes=100, check_every=5, patience=10, learning_rate=0.02)
    train(learner, stream.session(0).view, episodes, rehearse, Ear())
    after = rehearsal_accuracy(learner, list(rehearse))
    assert after == pytest.approx(max(heard))
    assert after > before
    assert set(shown) == {"loss", "validation", "node_spread", "task_spread"}
    assert shown["node_spread"] > 0
    assert shown["task_spread"] > 0
