"""Real processes, real SIGKILLs; ``performance/faults.py`` measures the same at full size."""

from pathlib import Path

import pytest
from performance.faults import kill_a_node, kill_the_driver

from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.runners.local import LocalRunner
from tests.lab.runners.runs import contents, ended
from tests.slow_suite import slow

NODES = 2000


def undisturbed(jobs: int, out: Path) -> list[object]:
    options = {"nodes": NODES, "classes": 20}
    asked = [
        Job(dataset="synthetic", method="graft", seed=seed, dataset_options=options)
        for seed in range(jobs)
    ]
    ended(LocalRunner(), asked, out)
    return [*contents(out)]


@slow
def test_a_node_that_dies_costs_time_and_nothing_else(tmp_path: Path) -> None:
    jobs = 60
    cost = kill_a_node(tmp_path, jobs=jobs, nodes=NODES)
    assert jobs // 3 <= cost.done_before < jobs
    assert (cost.records, cost.failures) == (jobs, 0)
    assert contents(tmp_path / "killed") == contents(tmp_path / "undisturbed")


@pytest.mark.parametrize(("times", "jobs"), [(2, 6), pytest.param(20, 60, marks=slow)])
def test_a_driver_killed_again_and_again_ends_with_the_same_records(
    times: int, jobs: int, tmp_path: Path
) -> None:
    gained = kill_the_driver(tmp_path, times=times, jobs=jobs, nodes=NODES)
    assert sum(gained) == jobs
    assert contents(tmp_path / "runs") == undisturbed(jobs, tmp_path / "undisturbed")
