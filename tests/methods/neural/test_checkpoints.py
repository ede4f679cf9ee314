"""Checkpoints of training: a resumed fit gives the result of an uninterrupted one, bit for bit."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.events import Listener
from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.methods.neural import checkpoints
from nodegraft.methods.neural.batches import SampledTrainingWarning
from tests.contract.streams import quick, small_stream

SETTINGS: dict[str, dict[str, Any]] = {
    "hag-meta": {"episodes": 45, "max_epochs": 6, "practice_dropout": 0.2},
    "finetune": {"max_epochs": 12, "patience": 2},
}


class InterruptedFitError(Exception):
    """End of a fit before its end."""


class InterruptingListener(Listener):
    """Listener that records losses, and ends the fit after a number of events."""

    def __init__(self, events: int | None = None) -> None:
        self.events, self.losses = events, list[float]()

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self.losses.append(numbers["loss"])
        if self.events is not None and len(self.losses) >= self.events:
            raise InterruptedFitError


def fitted(
    name: str, batch: int | str, file: Path | None, listener: Listener, **settings: Any
) -> dict[str, np.ndarray[Any, Any]]:
    stream = small_stream()
    model = quick(name, **SETTINGS[name] | {"batch": batch, "fan_out": 3} | settings)
    session = stream.session(0)
    model.fit(session.view, stream.curriculum, listener=listener, checkpoint=file)
    assert {name for name in vars(model) if "checkpoint" in name} == set()
    return model.state().arrays


@pytest.mark.parametrize(("name", "batch"), [("hag-meta", 40), ("finetune", "full")])
def test_an_interrupted_fit_resumes_with_the_same_result(
    name: str, batch: int | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints, "EVERY", 2)
    whole = InterruptingListener()
    expected = fitted(name, batch, None, whole)
    file, seen = tmp_path / "training", 0
    # Each fit is interrupted a few events after the last one; a checkpoint is at most two steps
    # old, and losses from it on are those of the uninterrupted fit.
    while True:
        listener = InterruptingListener(5)
        try:
            found = fitted(name, batch, file, listener)
        except InterruptedFitError:
            seen += 1
            assert any(
                listener.losses == whole.losses[start : start + 5]
                for start in range(len(whole.losses))
            )
            continue
        break
    assert 2 < seen <= len(whole.losses)
    assert listener.losses == whole.losses[len(whole.losses) - len(listener.losses) :]
    for part, values in expected.items():
        np.testing.assert_array_equal(found[part], values)
    # The file of a finished training gives its result without another step.
    again = InterruptingListener(1)
    for part, values in fitted(name, batch, file, again).items():
        np.testing.assert_array_equal(expected[part], values)
    assert [path.name for path in tmp_path.iterdir()] == ["training"]


def changed(graph: Graph, part: str) -> Graph:
    """Return a graph that differs in one node or edge."""
    rows, (source, target) = np.array(graph.features(graph.rows)), graph.edges()
    if part == "features":
        rows[-1] += 1.0
    if part == "edges":
        source, target = source[:-1], target[:-1]
    edges: Any = list(zip(source.tolist(), target.tolist(), strict=True))
    if part == "weights":
        edges = {"edge": Relation(edges, weights=np.full(len(edges), 2.0))}
    return Graph(graph.keys_of(graph.rows), rows, edges)


@pytest.mark.parametrize("part", ["features", "edges", "weights"])
def test_a_checkpoint_of_another_graph_is_refused(part: str, tmp_path: Path) -> None:
    draws = np.random.default_rng(0)
    ends = [(int(a), int(b)) for a, b in draws.integers(60, size=(150, 2)) if a != b]
    graph = Graph(list(range(60)), draws.normal(size=(60, 5)).astype(np.float32), ends)
    labels = {"a": list(range(10)), "b": list(range(10, 20))}
    model = quick("proto-gcn", max_epochs=2, batch="full")
    model.fit(graph, labels, checkpoint=tmp_path / "training")
    model.fit(graph, labels, checkpoint=tmp_path / "training")
    with pytest.raises(CheckpointError, match=r"which differs in its graph: delete"):
        model.fit(changed(graph, part), labels, checkpoint=tmp_path / "training")


def test_other_sessions_and_another_method_are_refused(tmp_path: Path) -> None:
    stream, file = small_stream(), tmp_path / "training"
    view, curriculum = stream.session(0).view, stream.curriculum
    model = quick("hag-meta", max_epochs=1, episodes=1)
    model.fit(view, curriculum, checkpoint=file)
    with pytest.raises(CheckpointError, match=r"differs in its labels: delete"):
        model.fit(view, replace(curriculum, ways=curriculum.ways + 1), checkpoint=file)
    with pytest.raises(CheckpointError, match=r"differs in its method and parameters: delete"):
        quick("proto-gcn", max_epochs=1).fit(view, curriculum, checkpoint=file)


def test_a_damaged_number_is_found(tmp_path: Path) -> None:
    file = tmp_path / "training"
    settings: dict[str, Any] = {"max_epochs": 1, "batch": "full", "listener": Listener()}
    fitted("finetune", file=file, **settings)
    content = bytearray(file.read_bytes())
    content[int.from_bytes(content[:8], "little") + 8 + 3] ^= 1
    file.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"is damaged \(its content does not have its hash"):
        fitted("finetune", file=file, **settings)
    with pytest.raises(ParameterError, match=r"checkpoint must be"):
        fitted("finetune", file=3, **settings)  # type: ignore[arg-type]


def test_a_checkpoint_that_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "training"
    settings: dict[str, Any] = {"max_epochs": 1, "batch": "auto", "listener": Listener()}
    fitted("finetune", file=file, **settings)
    with pytest.raises(CheckpointError, match=r"training, which differs in its parameters: del"):
        fitted("finetune", file=file, hidden=20, **settings)
    monkeypatch.setattr("nodegraft.methods.neural.batches.MOST_FULL_BATCH_EDGES", 0)
    choice = r"differs in its choice of full or sampled batches: delete"
    with pytest.warns(SampledTrainingWarning), pytest.raises(CheckpointError, match=choice):
        fitted("finetune", file=file, **settings)
    monkeypatch.undo()
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match=r"training is no checkpoint of a training, or is"):
        fitted("finetune", file=file, **settings)
    with pytest.raises(CheckpointError, match=r"cannot be read: .*directory"):
        fitted("finetune", file=tmp_path, **settings)
    with pytest.raises(CheckpointError, match=r"cannot be written: there is no folder"):
        fitted("finetune", file=tmp_path / "absent" / "training", **settings)
    stream = small_stream()
    with pytest.raises(ParameterError, match="sgc-mean does not train a network, so it has no ch"):
        quick("sgc-mean").fit(stream.session(0).view, stream.curriculum, checkpoint=file)
