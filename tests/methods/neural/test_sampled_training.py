"""Training on sampled subgraphs: full batch if all neighbours are taken, also beyond memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nodegraft.base.errors import ParameterError
from nodegraft.base.events import Listener
from nodegraft.base.parameters.build import read
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.sampled_view import SampledView
from nodegraft.methods.neural import batches
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.methods.templates.pretrained import Pretrained
from nodegraft.model.registry import REGISTRY, make_method
from nodegraft.tables.disk.save import save_mapped
from tests.contract.streams import quick, small_stream

TRAINED = [name for name in REGISTRY.names() if issubclass(REGISTRY.get(name), Pretrained)]
EXACT = {"batch": 100_000, "fan_out": -1}


class Losses(Listener):
    """The losses of all steps."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self.values.append(numbers["loss"])


def taught(name: str, sessions: int = 4, **parameters: Any) -> tuple[Any, list[float]]:
    """A method without dropout after some sessions, and the losses of its steps."""
    stream, losses = small_stream(arrival="growing"), Losses()
    model = quick(name, **{"dropout": 0.0, "max_epochs": 5} | parameters)
    model.fit(stream.session(0).view, stream.curriculum, listener=losses)
    for index in range(1, sessions):
        session = stream.session(index)
        model.add_classes(session.view, session.support, listener=losses)
    return model, losses.values


@pytest.mark.parametrize("name", ["hag-meta", "proto-gcn", "icarl"])
def test_with_all_neighbours_everything_equals_full_batch(name: str) -> None:
    (full, expected), (ours, losses) = taught(name), taught(name, **EXACT)
    assert len(losses) == len(expected) > 4
    np.testing.assert_allclose(losses, expected, rtol=0, atol=1e-5)
    theirs = full.state().arrays
    for part, values in ours.state().arrays.items():
        # Adam divides gradients by their size, so it magnifies rounding of the smallest ones.
        atol = 1e-4 if part.startswith("network_") else 1e-5
        np.testing.assert_allclose(values, theirs[part], rtol=0, atol=atol, err_msg=part)
    if name == "hag-meta":
        view = small_stream(arrival="growing").session(3).view
        mine, other = ours.attention(view), full.attention(view)
        assert mine.nodes.keys() == other.nodes.keys()
        for known, weights in other.nodes.items():
            assert mine.nodes[known] == pytest.approx(weights, abs=1e-5)
        shares = [weight for _, weight in other.tasks]
        assert [weight for _, weight in mine.tasks] == pytest.approx(shares, abs=1e-5)


@pytest.mark.parametrize("name", TRAINED)
def test_every_trained_method_trains_on_small_batches(name: str) -> None:
    settings = {"batch": 40, "fan_out": 3, "max_epochs": 2, "sessions": 2}
    model, losses = taught(name, **settings)
    assert len(model.classes_) == 7
    assert np.isfinite(losses).all()
    assert losses == taught(name, **settings)[1]


def test_a_sampled_epoch_takes_a_step_for_each_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    around = SampledView.around

    def counted(self: SampledView, rows: Any, hops: int) -> Any:
        sizes.append(rows.size * torch.is_grad_enabled())
        return around(self, rows, hops)

    monkeypatch.setattr(SampledView, "around", counted)
    stream = small_stream()
    model = ProtoGCN(max_epochs=2, batch=16, fan_out=2)
    model.fit(stream.session(0).view, stream.curriculum)
    steps = [size for size in sizes if size]
    train = stream.curriculum.for_early_stopping(model.seeds)[0].num_nodes
    assert sum(steps) == 2 * train
    assert len(steps) == 2 * -(-train // 16)


@pytest.mark.parametrize("name", ["hag-meta", "joint-fewshot"])
def test_a_graph_on_disk_beyond_memory_trains_as_in_memory(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, labels = BlockModel(nodes=120, classes=5).draw()
    mapped = save_mapped(graph, tmp_path / "graph")
    monkeypatch.setattr(batches, "AUTO_SEEDS", 40)
    monkeypatch.setattr("nodegraft.graph.view.available_bytes", lambda: 1000)
    known, new = labels.select(labels.classes[:4]), labels.select(labels.classes[4:])
    models = [quick(name, fan_out=4) for _ in range(2)]
    for model, view in zip(models, (graph, mapped), strict=True):
        with pytest.warns(batches.SampledTrainingWarning):
            model.fit(view, known).add_classes(view, new)
    on_disk, in_memory = (model.state().arrays for model in models)
    for part, values in on_disk.items():
        np.testing.assert_array_equal(values, in_memory[part])


def test_auto_samples_large_graphs_only(monkeypatch: pytest.MonkeyPatch) -> None:
    view, _ = BlockModel(nodes=60, classes=4).draw()
    model = ProtoGCN()
    assert model.for_training(view) is view is model.for_embedding(view)
    monkeypatch.setattr(batches, "MOST_FULL_BATCH_EDGES", view.num_edges)
    assert model.for_training(view) is view
    monkeypatch.setattr(batches, "MOST_FULL_BATCH_EDGES", view.num_edges - 1)
    exact = model.for_embedding(view)
    with pytest.warns(batches.SampledTrainingWarning, match="samples at most 10 neighbours"):
        own = model.for_training(view)
    assert isinstance(own, SampledView)
    assert isinstance(exact, SampledView)
    assert (own.batch, own.fan_out, exact.fan_out) == (1024, 10, -1)
    with pytest.warns(batches.SampledTrainingWarning, match="1,024 labelled nodes, and takes all"):
        ProtoGCN(fan_out=-1).for_training(view)
    assert ProtoGCN(batch="full").for_training(view) is view


def test_a_fitted_model_can_train_on_other_batches() -> None:
    model, _ = taught("proto-gcn", sessions=1)
    assert len(model.set_params(batch=30, fan_out=4).classes_) == 5
    assert (model.batch, model.fan_out) == (30, 4)
    assert not model.set_params(hidden=8).classes_


def test_a_graph_that_is_in_a_full_batch_stays_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    view, _ = BlockModel(nodes=60, classes=4).draw()
    view.full_batch(2)
    monkeypatch.setattr("nodegraft.graph.view.available_bytes", lambda: 1)
    assert ProtoGCN().for_training(view) is view


def test_wrong_values_are_refused_and_texts_are_read() -> None:
    with pytest.raises(
        ParameterError, match="batch must be a whole number at least 1 or one of 'au"
    ):
        make_method("hag-meta", batch=0)
    with pytest.raises(ParameterError, match="fan_out must be a whole number at least -1, not -2"):
        make_method("hag-meta", fan_out=-2)
    assert read(ProtoGCN, {"batch": "auto", "fan_out": "-1"}) == {"batch": "auto", "fan_out": -1}
    assert read(ProtoGCN, {"batch": "512"}) == {"batch": 512}
    with pytest.raises(ParameterError, match="batch must be a whole number"):
        read(ProtoGCN, {"batch": "many"})
