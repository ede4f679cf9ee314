import os
import signal
from pathlib import Path

from nodegraft.lab.benchmark.archive import failed_keys, read_documents
from nodegraft.lab.runners.local import JobEnded, JobStarted, LocalRunner, run_job
from tests.lab.runners.runs import contents, ended, job


def test_processes_write_the_records_this_one_would(tmp_path: Path) -> None:
    jobs = [job(seed) for seed in range(3)]
    outcomes = ended(LocalRunner(2), jobs, tmp_path / "two")
    assert {outcome.job.seed for outcome in outcomes} == {0, 1, 2}
    assert all(Path(outcome.place).exists() for outcome in outcomes)
    for one in jobs:
        run_job(one, one.load, str(tmp_path / "here"))
    assert len(contents(tmp_path / "two")) == 3
    assert contents(tmp_path / "two") == contents(tmp_path / "here")


def test_a_job_that_fails_is_on_record_and_stops_nobody(tmp_path: Path) -> None:
    wrong = job(hops=-1)
    outcomes = ended(LocalRunner(), [wrong, job(1)], tmp_path)
    failed = next(outcome for outcome in outcomes if outcome.error)
    assert failed.job == wrong
    assert "hops must be a whole number at least 0" in failed.error
    assert "Traceback" in Path(failed.place).read_text()
    assert failed_keys(tmp_path) == {wrong.key}
    assert len(read_documents(tmp_path)) == 1


def test_a_process_that_is_killed_costs_its_own_job_only(tmp_path: Path) -> None:
    with LocalRunner() as runner:
        events = runner.run([job(0), job(1)], None, tmp_path)
        assert isinstance(next(events), JobStarted)
        os.kill(runner.processes()[0], signal.SIGKILL)
        ends = [event for event in events if isinstance(event, JobEnded)]
    assert [bool(end.error) for end in ends] == [True, False]
    assert "exit code -9" in ends[0].error
    assert len(read_documents(tmp_path)) == 1
