"""Ray Train starts the processes of a training; they are restarted, and resume, if one ends."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from nodegraft.runners.ray_connection import connected


def trained(checkpoint: Path | None, death: Path | None = None) -> dict[str, Any]:
    """Train two ranks; the second one is killed at the thirtieth episode, unless it was before."""
    import os
    import signal

    import torch.distributed as dist

    from nodegraft.base.events import Listener
    from nodegraft.methods.neural import checkpoints
    from tests.contract.streams import quick, small_stream

    checkpoints.EVERY = 3
    seen = []

    class Death(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            seen.append(done)
            is_time = (stage, done, dist.get_rank()) == ("meta-train", 30, 1)
            if is_time and death is not None and not death.exists():
                death.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    stream = small_stream()
    model = quick("hag-meta", episodes=40, batch=40, fan_out=3)
    session = stream.session(0)
    model.fit(session.view, stream.curriculum, listener=Death(), checkpoint=checkpoint)
    arrays = model.state().arrays
    numbers = {part: values.tolist() for part, values in arrays.items() if part != "labels_"}
    return {"steps": len(seen), "numbers": numbers}


def work(options: dict[str, Any]) -> None:
    """What Ray Train runs in each process."""
    sys.path[:0] = options["path"]
    import torch.distributed as dist

    from tests.methods.neural.test_ray_train import trained

    out = Path(options["out"])
    resumed = trained(out / "training", out / "death")
    whole = trained(None)
    record = {"steps": [resumed["steps"], whole["steps"]], "size": dist.get_world_size()}
    record["same"] = resumed["numbers"] == whole["numbers"]
    (out / f"{dist.get_rank()}.json").write_text(json.dumps(record))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Ray's own settings
def test_after_the_end_of_a_process_ray_train_resumes_with_the_same_result(tmp_path: Path) -> None:
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    with connected("local", 2):
        TorchTrainer(
            work,
            train_loop_config={"out": str(tmp_path), "path": sys.path},
            torch_config=TorchConfig(backend="gloo"),
            scaling_config=ScalingConfig(num_workers=2),
            run_config=RunConfig(
                storage_path=str(tmp_path), failure_config=FailureConfig(max_failures=1)
            ),
        ).fit()
    assert (tmp_path / "death").exists()
    for rank in range(2):
        record = json.loads((tmp_path / f"{rank}.json").read_text())
        assert (record["size"], record["same"]) == (2, True)
        assert record["steps"][0] < record["steps"][1]
