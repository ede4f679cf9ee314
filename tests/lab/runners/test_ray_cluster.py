import os
from pathlib import Path

import pytest

from nodegraft.base.errors import NodegraftError
from nodegraft.lab.runners.local import LocalRunner
from nodegraft.lab.runners.ray_cluster import RayRunner
from nodegraft.runners.ray_connection import JobResources
from tests.lab.runners.runs import contents, ended, job

pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning",  # sockets and files of Ray's own
    "ignore:.*Ray state API:DeprecationWarning",
)


def test_records_are_those_of_the_local_runner(tmp_path: Path) -> None:
    jobs = [job(seed, method) for method in ("graft", "proto-gcn") for seed in range(2)]
    jobs.append(job(hops=-1))
    by_ray = ended(RayRunner("local", cpus=2), jobs, tmp_path / "ray")
    assert os.environ["RAY_AUTH_MODE"] == "token"
    by_processes = ended(LocalRunner(2), jobs, tmp_path / "local")
    assert contents(tmp_path / "ray") == contents(tmp_path / "local")
    assert len(contents(tmp_path / "ray")) == 4
    for ends in (by_ray, by_processes):
        assert [end.job.parameters for end in ends if end.error] == [{"hops": -1}]


def test_a_job_larger_than_every_node_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NodegraftError, match="room for one job"):
        ended(RayRunner("local", JobResources(cpus=3), cpus=1), [job()], tmp_path)


def test_nobody_at_the_address_is_told_at_once() -> None:
    with (
        pytest.raises(
            NodegraftError, match=r"Cannot connect to a Ray cluster .* RAY_AUTH_TOKEN here"
        ),
        RayRunner("127.0.0.1:9"),
    ):
        pass


def test_what_a_job_asks_for_decides_how_many_fit() -> None:
    node = {"CPU": 8.0, "memory": 10e9, "GPU": 1.0}
    assert JobResources().jobs_on(node) == 8
    assert JobResources(memory=int(4e9)).jobs_on(node) == 2
    assert JobResources(gpus=0.25).jobs_on(node) == 4
    assert JobResources(gpus=1).jobs_on({"CPU": 8.0}) == 0
