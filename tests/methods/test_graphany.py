import numpy as np
import torch

from nodegraft.base.events import Listener
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.graphany import GraphAny, Mixer
from nodegraft.methods.linear.channels import channel_rows, similarities
from tests.graph.reference import dense


def lesson() -> tuple[Graph, NodeLabels, dict[str, list[str | int]]]:
    graph, labels = BlockModel(nodes=200, classes=4, features=64, signal=1.0).draw()
    return graph, labels, {name: graph.keys_of(rows[:12]) for name, rows in labels.items()}


def test_scores_are_mixed_predictions_of_the_first_three_channels() -> None:
    graph, labels, taught = lesson()
    rows = np.arange(graph.num_nodes)
    model = GraphAny(steps=5).fit(graph, taught)
    examples = np.concatenate([own[:12] for own in labels.values()])
    one_hot = np.repeat(np.eye(4), 12, axis=0)
    predictions = np.stack(
        [
            dense(own) @ np.linalg.pinv(dense(own)[examples]) @ one_hot
            for own in channel_rows(graph, rows)
        ],
        axis=1,
    )
    mixer = Mixer(128, 0.5, 5.0, torch.Generator())
    mixer.load_state_dict(model.mixer_)
    shares = mixer(torch.from_numpy(similarities(predictions, 1.0))).detach().numpy()
    assert shares.shape == (200, 3)
    expected = sum(shares[:, [number]] * predictions[:, number] for number in range(3))
    np.testing.assert_allclose(model.score_rows(graph, rows), expected, atol=1e-4)


def test_the_network_by_hand() -> None:
    mixer = Mixer(1, 0.5, 5.0, torch.Generator().manual_seed(0))
    with torch.no_grad():
        mixer.first.weight.fill_(2.0)
        mixer.last.weight.copy_(torch.tensor([[5.0], [0.0], [-5.0]]))
        for values, number in (
            (mixer.normalise.running_mean, 1.0),
            (mixer.normalise.running_var, 4.0),
        ):
            assert values is not None
            values.fill_(number)
        found = mixer(torch.full((1, 20), 0.1, dtype=torch.float64))
    # 20 * 0.1 * 2 = 4, normalised (4 - 1) / 2 = 1.5.
    powers = np.exp([1.5, 0, -1.5])
    np.testing.assert_allclose(found.numpy()[0], powers / powers.sum(), rtol=1e-5)


def test_training_lowers_the_loss() -> None:
    graph, _, taught = lesson()

    losses = list[float]()

    class Recorder(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            losses.append(numbers["loss"])

    GraphAny(steps=150, learning_rate=0.01).fit(graph, taught, listener=Recorder())
    assert len(losses) == 150
    assert np.mean(losses[-30:]) < np.mean(losses[:30]) - 0.005


def test_a_penalty_makes_room_for_small_classes() -> None:
    graph, labels, taught = lesson()
    *known, last = taught
    rows = np.concatenate([own[12:] for own in labels.values()])
    novel = labels[last][12:]
    found = []
    for penalty in (0.0, 0.1):
        model = GraphAny(steps=0, penalty=penalty).fit(
            graph, {name: taught[name] for name in known}
        )
        model.add_classes(graph, {last: taught[last][:2]})
        best = model.score_rows(graph, np.sort(rows)).argmax(axis=1)
        found.append((best[np.isin(np.sort(rows), novel)] == 3).mean())
    assert found[1] > found[0]
