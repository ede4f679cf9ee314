"""Data-parallel training: several processes learn what one process learns."""

import json
import subprocess
import sys
from pathlib import Path
from signal import SIGKILL
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from tests.methods.neural.rank_processes import (
    environment,
    outputs,
    results,
    start,
    wait_until,
)
from tests.methods.neural.test_sampled_training import TRAINED, taught

SETTINGS: dict[str, Any] = {"batch": 40, "fan_out": 3, "max_epochs": 2, "sessions": 2}
SHARED = sorted(set(TRAINED) - {"meta-gnn"})
QUICK = ["hag-meta", "icarl"]


def learned(name: str, **settings: Any) -> dict[str, Any]:
    model, losses = taught(name, **SETTINGS | settings)
    parts = model.state().arrays
    numbers = {part: values.tolist() for part, values in parts.items() if values.dtype.kind == "f"}
    return {"losses": losses, "numbers": numbers}


@pytest.mark.parametrize(
    ("names", "ranks"),
    [(QUICK, 2), pytest.param(SHARED, 3, marks=pytest.mark.slow)],
    ids=["some", "all"],
)
def test_ranks_together_learn_what_one_process_learns(names: list[str], ranks: int) -> None:
    arguments = ["-m", "tests.methods.neural.test_ranks", *names]
    for name, *found in zip(names, *results(arguments, ranks), strict=True):
        expected = learned(name)
        assert len(expected["losses"]) >= SETTINGS["max_epochs"]
        for rank in found:
            np.testing.assert_allclose(rank["losses"], expected["losses"], rtol=0, atol=1e-4)
            for part, values in expected["numbers"].items():
                # Adam divides gradients by their size, so it magnifies rounding.
                np.testing.assert_allclose(rank["numbers"][part], values, rtol=0, atol=1e-3)
            assert rank == found[0]


def test_what_cannot_be_shared_is_refused() -> None:
    code = """
        import json, os, subprocess, sys
        from nodegraft.base.errors import NodegraftError
        from tests.contract.streams import quick, small_stream
        from tests.methods.neural.test_sampled_training import taught

        def refused(name, **settings):
            try:
                taught(name, sessions=1, max_epochs=1, **settings)
            except NodegraftError as error:
                return str(error)

        def refused_class():
            stream = small_stream()
            model = quick("proto-gcn", batch=40, max_epochs=1)
            model.fit(stream.session(0).view, stream.curriculum)
            (name, rows), *_ = stream.session(1).support.items()
            view = stream.session(1).view
            try:
                model.add_classes(view, {name: view.keys_of(rows[: 1 + int(os.environ["RANK"])])})
            except NodegraftError as error:
                return str(error)

        ask = "from nodegraft.methods.neural.ranks import join_ranks; print(join_ranks('cpu'))"
        other = 16 + int(os.environ["RANK"])
        print(json.dumps([
            refused("hag-meta", batch="full"),
            refused("meta-gnn", batch=40),
            refused("proto-gcn", batch=40, hidden=other),
            refused_class(),
            subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout,
        ]))
    """
    sentences, same = results(["-c", dedent(code)])
    assert sentences == same
    full, meta_gnn, unequal, unequal_class, child = sentences
    assert full.startswith("batch is 'full', and 2 processes train together: they share the nodes")
    assert meta_gnn.startswith("meta-gnn cannot be trained by 2 processes together, because")
    assert "were given different parameters: call each method with the same" in unequal
    assert "were given different labels: call each method with the same" in unequal_class
    assert child == "(0, 1)\n", "a process that a rank has started is no rank"


TRAINING = """
    import json, os, signal, sys
    import numpy as np
    from nodegraft.base.events import Listener
    from nodegraft.methods.neural import checkpoints
    from tests.contract.streams import quick, small_stream

    checkpoints.EVERY = 3
    file, last = sys.argv[1], int(sys.argv[2])

    class Death(Listener):
        def step(self, stage, done, total, **numbers):
            if (stage, done) == ("meta-train", last) and os.environ["RANK"] == "1":
                os.kill(os.getpid(), signal.SIGKILL)

    def trained(checkpoint):
        stream = small_stream()
        settings = {"batch": 40, "fan_out": 3, "practice_dropout": 0.2}
        model = quick("hag-meta", episodes=40, **settings)
        session = stream.session(0)
        model.fit(session.view, stream.curriculum, listener=Death(), checkpoint=checkpoint)
        return model.state().arrays

    found = trained(file)
    expected = trained(None)
    print(json.dumps([part for part in expected if (expected[part] != found[part]).any()]))
"""


def test_after_the_end_of_a_rank_training_resumes_with_the_same_result(tmp_path: Path) -> None:
    arguments = ["-c", dedent(TRAINING), str(tmp_path / "training")]
    processes = start([*arguments, "32"])
    sentence = outputs(processes)[0].splitlines()[-1]
    assert [process.returncode for process in processes] == [1, -SIGKILL]
    assert sentence.endswith(
        "Training was interrupted: another training process has ended or has not responded in "
        "time. Start all processes again; with the same checkpoint=… of fit, training resumes at "
        "its last checkpoint."
    )
    before = (tmp_path / "training").stat().st_mtime_ns
    assert results([*arguments, "100"]) == [[], []]
    assert (tmp_path / "training").stat().st_mtime_ns > before


@pytest.mark.slow
def test_a_rank_that_does_not_respond_ends_the_others_after_the_timeout() -> None:
    code = """
        import os, signal
        from datetime import timedelta
        from nodegraft.base.events import Listener
        from nodegraft.methods.neural import ranks
        from tests.methods.neural.test_sampled_training import small_stream, quick

        ranks.TIMEOUT = timedelta(seconds=8)

        class Pause(Listener):
            def step(self, stage, done, total, **numbers):
                if os.environ["RANK"] == "1":
                    os.kill(os.getpid(), signal.SIGSTOP)

        stream = small_stream()
        model = quick("proto-gcn", batch=40)
        model.fit(stream.session(0).view, stream.curriculum, listener=Pause())
    """
    first, second = start(["-c", dedent(code)])
    try:
        sentence = outputs([first])[0].splitlines()[-1]
    finally:
        second.kill()
        second.communicate()
    assert "another training process has ended or has not responded in time" in sentence


@pytest.mark.slow
def test_after_the_end_of_torchrun_training_resumes_with_the_same_result(tmp_path: Path) -> None:
    script, file, logs = (tmp_path / name for name in ("train.py", "training", "logs"))
    script.write_text(dedent(TRAINING))
    arguments = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    arguments += ["--log-dir", str(logs), "--redirects", "3", str(script), str(file), "100"]

    def launch() -> "subprocess.Popen[str]":
        return subprocess.Popen([sys.executable, *arguments], env=environment(), text=True)

    launcher = launch()
    try:
        wait_until(file.exists)
        launcher.kill()
        launcher.wait()
        ends = "TrainingInterruptedError: Training was interrupted: torchrun, which started this "
        wait_until(lambda: sum(ends in log.read_text() for log in logs.rglob("stderr.log")) == 2)
        launcher = launch()
        assert launcher.wait(150) == 0
    finally:
        launcher.kill()
        launcher.wait()
    printed = [log.read_text().splitlines()[-1:] for log in logs.rglob("stdout.log")]
    assert sorted(printed) == [[], [], ["[]"], ["[]"]]


if __name__ == "__main__":
    sys.stdout.write(json.dumps([learned(name) for name in sys.argv[1:]]))
