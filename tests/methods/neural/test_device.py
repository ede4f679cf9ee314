"""No tensor is made on a device by accident, and a model loads where its device is missing."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

import nodegraft
from nodegraft.base.errors import ParameterError
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.operator import Operator
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.neural.device import CPU, device_of, placed, training_device
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.model.registry import REGISTRY, load_model, make_method
from tests.contract.streams import quick, small_stream

SOURCES = str(Path(nodegraft.__file__).parent)
NETWORKS = f"{SOURCES}/methods/neural/"
TRAINED = [
    name
    for name in REGISTRY.names()
    if "device" in {part.name for part in fields(REGISTRY.get(name))}
]


class ExplicitDevices(TorchFunctionMode):
    """Refuse tensors that our source files make without saying on which device."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        caller = sys._getframe(1).f_code
        if caller.co_filename.startswith(SOURCES):
            place = f"{caller.co_filename} {caller.co_name}"
            if func in _device_constructors() and func is not torch.from_numpy:
                assert "device" in (kwargs or {}), f"{place}: {func} without device"
            if func is torch.from_numpy and caller.co_filename.startswith(NETWORKS):
                assert caller.co_name == "to_tensor", f"{place}: from_numpy instead of to_tensor"
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", TRAINED)
def test_every_tensor_is_made_on_a_stated_device(name: str) -> None:
    with ExplicitDevices():
        evaluate(quick(name), small_stream())


def test_the_mode_notices_tensors_without_device() -> None:
    code = compile("torch.zeros(2)", f"{SOURCES}/example.py", "eval")
    with ExplicitDevices(), pytest.raises(AssertionError, match=r"example\.py.*without device"):
        eval(code, {"torch": torch})  # noqa: S307


def test_every_gradient_trained_method_has_the_parameter() -> None:
    rates = {"learning_rate", "max_epochs"}
    trained = [
        name
        for name in REGISTRY.names()
        if rates & {part.name for part in fields(REGISTRY.get(name))}
    ]
    assert trained == TRAINED
    assert len(TRAINED) == 16


def test_an_unknown_device_is_refused_with_what_was_given() -> None:
    with pytest.raises(
        ParameterError, match="device must be one of 'auto', 'cpu', 'cuda', not 'gp"
    ):
        make_method("hag-meta", device="gpu")


def fitted() -> tuple[ProtoGCN, Graph, NodeLabels]:
    graph, labels = BlockModel(nodes=60, classes=4).draw()
    model = ProtoGCN(max_epochs=2, device="cpu")
    return model.fit(graph, labels.select(labels.classes[:3])), graph, labels


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA")
def test_a_model_of_another_device_loads_and_predicts_but_does_not_train(tmp_path: Path) -> None:
    model, graph, labels = fitted()
    expected = model.score_rows(graph, graph.rows)
    model.set_params(device="cuda").save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.score_rows(graph, graph.rows), expected)
    loaded.add_classes(graph, labels.select(labels.classes[3:]))
    with pytest.raises(
        ParameterError, match=r"device is 'cuda', but PyTorch .* has no CUDA device"
    ):
        ProtoGCN(max_epochs=2, device="cuda").fit(graph, labels)
    with pytest.raises(ParameterError, match="device='cpu'"):
        make_method("graphany", device="cuda", steps=1).fit(graph, labels)


def test_auto_is_cuda_only_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for has_cuda, found in ((False, "cpu"), (True, "cuda")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda there=has_cuda: there)
        assert training_device("auto").type == found
        assert training_device("cpu").type == "cpu"


def test_a_network_returns_to_its_device_and_an_operator_follows_its_factor() -> None:
    network, meta = torch.nn.Linear(2, 2, device="cpu"), torch.device("meta")
    with pytest.raises(NotImplementedError), placed(network, meta):
        # Meta tensors have no data, so the network cannot come back.
        assert device_of(network) == meta
    operator = Operator(np.eye(3, dtype=np.float32))
    assert operator.on(CPU) is operator
    assert operator.on(meta).forward_matrix.device == meta
    assert (operator @ torch.ones(3, 1, device=meta)).device == meta
    assert operator.forward_matrix.device == CPU
