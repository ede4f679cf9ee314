"""Data-parallel training: several processes learn what one process learns."""

import json
import sys
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from tests.methods.neural.rank_processes import outputs, results, start
from tests.methods.neural.test_sampled_training import TRAINED, taught

SETTINGS: dict[str, Any] = {"batch": 40, "fan_out": 3, "max_epochs": 2, "sessions": 3}
SHARED = sorted(set(TRAINED) - {"meta-gnn"})
QUICK = ["hag-meta", "icarl", "joint-fewshot"]


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
        import json, os
        from nodegraft.base.errors import NodegraftError
        from tests.methods.neural.test_sampled_training import taught

        def refused(name, **settings):
            try:
                taught(name, sessions=1, max_epochs=1, **settings)
            except NodegraftError as error:
                return str(error)

        other = 16 + int(os.environ["RANK"])
        print(json.dumps([
            refused("hag-meta", batch="full"),
            refused("meta-gnn", batch=40),
            refused("proto-gcn", batch=40, hidden=other),
        ]))
    """
    sentences, same = results(["-c", dedent(code)])
    assert sentences == same
    full, meta_gnn, unequal = sentences
    assert full.startswith("batch is 'full', and 2 processes train together: they share the nodes")
    assert meta_gnn.startswith("meta-gnn cannot be trained by 2 processes together, because")
    assert "were given different parameters: call fit with the same" in unequal


def test_the_end_of_a_rank_ends_the_others_with_a_sentence() -> None:
    code = """
        import os, signal
        from nodegraft.base.events import Listener
        from tests.contract.streams import quick, small_stream

        class Death(Listener):
            def step(self, stage, done, total, **numbers):
                if done == 3 and os.environ["RANK"] == "1":
                    os.kill(os.getpid(), signal.SIGKILL)

        stream = small_stream()
        model = quick("proto-gcn", batch=40, max_epochs=1000, patience=1000)
        model.fit(stream.session(0).view, stream.curriculum, listener=Death())
    """
    processes = start(["-c", dedent(code)])
    sentence = outputs(processes)[0].splitlines()[-1]
    assert processes[0].returncode == 1
    assert sentence.endswith(
        "Training was interrupted: another training process has ended or has not responded in "
        "time. Start all processes again; with the same checkpoint=… of fit, training resumes at "
        "its last checkpoint."
    )


if __name__ == "__main__":
    sys.stdout.write(json.dumps([learned(name) for name in sys.argv[1:]]))
