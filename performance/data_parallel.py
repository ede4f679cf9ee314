"""Time of sampled training by one process and by two, each on one thread.

    python -m performance.data_parallel                      # 200,000 nodes, 20 batches an epoch
    python -m performance.data_parallel --nodes 20000 --batches 2 --rounds 1

``torchrun`` starts this script once for each process. Each process draws the same graph (degree 20,
64 columns) and trains ``hag-meta`` without dropout, on batches of 1,024 nodes with ten neighbours
of a node at each hop. The table has the shortest time of an epoch (with its evaluation) and of an
episode, and the largest difference between losses and those of one process. Rounds alternate
between the numbers of processes, because other work on the machine makes times longer.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

import nodegraft as ng
from nodegraft.base.events import Listener
from nodegraft.graph.block_model import BlockModel

CLASSES, BATCH, EPOCHS, EPISODES = 20, 1024, 6, 30
STAGES = ("pretrain", "meta-train")


class StepTimes(Listener):
    """Listener that records losses, and the time between two events of a stage."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self._last = ("", 0.0)

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        """Record an event."""
        self.losses.append(numbers["loss"])
        before, now = self._last, perf_counter()
        if before[0] == stage:
            self.seconds[stage].append(now - before[1])
        self._last = stage, now


def train(options: argparse.Namespace) -> None:
    """Train in this process, and write what was measured."""
    graph, labels = BlockModel(nodes=options.nodes, classes=CLASSES, degree=20.0).draw()
    count = options.batches * BATCH // CLASSES
    known = ng.NodeLabels({name: rows[:count] for name, rows in labels.items()})
    times = StepTimes()
    model = ng.HAGMeta(batch=BATCH, dropout=0.0, max_epochs=EPOCHS, episodes=EPISODES, device="cpu")
    model.fit(graph, known, listener=times)
    if os.environ["RANK"] == "0":
        shortest = {stage: min(times.seconds[stage]) for stage in STAGES}
        options.out.write_text(json.dumps({"losses": times.losses, "seconds": shortest}))


def measured(processes: int, options: argparse.Namespace, out: Path) -> dict[str, Any]:
    """Train in some processes, and return what the first of them measured."""
    command = ["torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    command += ["-m", "performance.data_parallel", "--out", str(out)]
    command += ["--nodes", str(options.nodes), "--batches", str(options.batches)]
    subprocess.run(  # noqa: S603
        [sys.executable, "-m", *command],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=True,
    )
    record: dict[str, Any] = json.loads(out.read_text())
    return record


def main() -> None:
    """Train, if torchrun has started this process; otherwise measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=200_000)
    parser.add_argument("--batches", type=int, default=20, help="batches of an epoch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="file that a process started by torchrun writes")
    options = parser.parse_args()
    if options.out is not None:
        train(options)
        return
    records: dict[int, list[dict[str, Any]]] = {1: [], 2: []}
    with TemporaryDirectory() as folder:
        for _ in range(options.rounds):
            for processes, runs in records.items():
                runs.append(measured(processes, options, Path(folder) / "record.json"))
    expected = np.array(records[1][0]["losses"])
    print("| processes | s an epoch | s an episode | largest difference of losses |")
    print("|---|---|---|---|")
    for processes, runs in records.items():
        epoch, episode = (min(run["seconds"][stage] for run in runs) for stage in STAGES)
        difference = max(float(np.abs(run["losses"] - expected).max()) for run in runs)
        print(f"| {processes} | {epoch:.3g} | {episode:.3g} | {difference:.1e} |")


if __name__ == "__main__":
    main()
