from pathlib import Path

from nodegraft.benchmark.job import Job
from nodegraft.benchmark.results import read_records
from nodegraft.runners.local import run_job, run_jobs

SMALL = {"nodes": 300, "classes": 8}


def job(seed: int = 0, method: str = "sgc-mean", **parameters: int) -> Job:
    return Job(
        dataset="synthetic",
        method=method,
        seed=seed,
        parameters=parameters,
        dataset_options=SMALL,
    )


def test_processes_write_the_records_one_process_would(tmp_path: Path) -> None:
    jobs = [job(seed) for seed in range(3)]
    outcomes = list(run_jobs(jobs, None, tmp_path / "two", workers=2))
    assert {outcome.job.seed for outcome in outcomes} == {0, 1, 2}
    assert all(outcome.record and outcome.record.exists() for outcome in outcomes)
    for one in jobs:
        run_job(one, None, tmp_path / "one")
    by_two, by_one = read_records(tmp_path / "two"), read_records(tmp_path / "one")
    assert [record["run"] for record in by_two] == [record["run"] for record in by_one]
    for a, b in zip(by_two, by_one, strict=True):
        assert a["summary"]["last_accuracy"] == b["summary"]["last_accuracy"]


def test_a_job_that_fails_tells_why_and_stops_nobody(tmp_path: Path) -> None:
    outcomes = list(run_jobs([job(hops=-1), job(1)], None, tmp_path))
    failed = next(outcome for outcome in outcomes if outcome.record is None)
    assert failed.job.parameters == {"hops": -1}
    assert "hops must not be negative" in failed.error
    assert len(read_records(tmp_path)) == 1
