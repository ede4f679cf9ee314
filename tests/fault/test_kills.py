"""Real processes, real SIGKILLs; ``performance/faults.py`` measures the same at full size."""

from pathlib import Path

from performance.faults import kill_a_node, kill_the_driver

from nodegraft.benchmark.job import Job
from nodegraft.runners.local import LocalRunner
from tests.runners.runs import contents, ended

NODES = 2000


def undisturbed(jobs: int, out: Path) -> list[object]:
    options = {"nodes": NODES, "classes": 20}
    asked = [
        Job(dataset="synthetic", method="graft", seed=seed, dataset_options=options)
        for seed in range(jobs)
    ]
    ended(LocalRunner(), asked, out)
    return [*contents(out)]


def test_a_node_that_dies_costs_time_and_nothing_else(tmp_path: Path) -> None:
    cost = kill_a_node(tmp_path, jobs=18, nodes=NODES)
    assert 6 <= cost.done_before < 18
    assert (cost.records, cost.failures) == (18, 0)
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


def test_a_driver_killed_again_and_again_ends_with_the_same_records(tmp_path: Path) -> None:
    gained = kill_the_driver(tmp_path, times=3, jobs=16, nodes=NODES)
    assert sum(gained) == 16
    assert contents(tmp_path / "runs") == undisturbed(16, tmp_path / "undisturbed")
