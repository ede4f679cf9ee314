import io
from types import SimpleNamespace

import pytest

from nodegraft.base.events import Listener, PrintProgress
from nodegraft.evaluation.protocol import evaluate
from nodegraft.methods.graft import Graft
from tests.contract.streams import small_stream


def test_one_line_a_stage() -> None:
    stream = io.StringIO()
    progress = PrintProgress(stream, seconds=0.0)
    progress.step("first", 1, 3, loss=0.25)
    progress.step("first", 3, 3)
    progress.step("second", 1, 9)
    progress.step("third", 1, 1)
    progress.session(SimpleNamespace(index=0, classes=5, macro_accuracy=0.5))
    assert stream.getvalue().split("\n") == [
        "\rfirst: 1 of 3  loss 0.250\rfirst: 3 of 3            ",
        "\rsecond: 1 of 9",
        "\rthird: 1 of 1",
        "\rsession 0: 5 classes, macro accuracy 50.0 %",
        "",
    ]


def test_it_does_not_write_more_often_than_asked() -> None:
    stream = io.StringIO()
    progress = PrintProgress(stream, seconds=60.0)
    for done in range(1, 1000):
        progress.step("stage", done, 1000)
    progress.step("stage", 1000, 1000)
    assert stream.getvalue().count("\r") == 2


def test_standard_error_is_where_it_goes(capsys: pytest.CaptureFixture[str]) -> None:
    PrintProgress().step("stage", 1, 1)
    assert capsys.readouterr() == ("", "\rstage: 1 of 1\n")


class Heard(Listener):
    """Keeps all that is told."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int, int]] = []

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self.steps.append((stage, done, total))


def test_graft_tells_its_stages_and_how_far_it_is() -> None:
    """Its fit was silent for the better part of a minute."""
    heard = Heard()
    evaluate(Graft(), small_stream(), listener=heard)
    stages = list(dict.fromkeys(stage for stage, _, _ in heard.steps))
    assert stages == ["propagate features", "calibrate on known classes", "fit signal weights"]
    practised = [(done, total) for stage, done, total in heard.steps if "practise" in stage]
    assert practised == [(done, len(practised)) for done in range(1, len(practised) + 1)]
