"""Checkpoints of training: a resumed fit gives the result of an uninterrupted one, bit for bit."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nodegraft.base.errors import CheckpointError, ParameterError
from nodegraft.base.events import Listener
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


def test_a_checkpoint_that_does_not_fit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "training"
    settings: dict[str, Any] = {"max_epochs": 1, "batch": "auto", "listener": Listener()}
    fitted("finetune", file=file, **settings)
    with pytest.raises(CheckpointError, match=r"another training, with another parameters: del"):
        fitted("finetune", file=file, hidden=20, **settings)
    monkeypatch.setattr("nodegraft.methods.neural.batches.MOST_FULL_BATCH_EDGES", 0)
    with (
        pytest.warns(SampledTrainingWarning),
        pytest.raises(CheckpointError, match=r"another choice of full or sampled batches: del"),
    ):
        fitted("finetune", file=file, **settings)
    monkeypatch.undo()
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(CheckpointError, match=r"training is no checkpoint of a training, or is"):
        fitted("finetune", file=file, **settings)
    with pytest.raises(CheckpointError, match=r"cannot be read: .*directory"):
        fitted("finetune", file=tmp_path, **settings)
    with pytest.raises(CheckpointError, match=r"cannot be written: .*No such file"):
        fitted("finetune", file=tmp_path / "absent" / "training", **settings)
    stream = small_stream()
    with pytest.raises(ParameterError, match="sgc-mean does not train a network, so it has no ch"):
        quick("sgc-mean").fit(stream.session(0).view, stream.curriculum, checkpoint=file)
