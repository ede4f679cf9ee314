from typing import Any

import pytest

from nodegraft.lab.benchmark.job import Estimates, Job


def record(method: str, seconds: float) -> dict[str, Any]:
    session = {"seconds": seconds / 4, "query_seconds": seconds / 4}
    return {"dataset": "synthetic", "method": method, "sessions": [session, session]}


def job(method: str) -> Job:
    return Job(dataset="synthetic", method=method)


def test_the_median_of_jobs_like_it() -> None:
    estimates = Estimates([record("graft", seconds) for seconds in (1.0, 2.0, 90.0)])
    assert estimates.seconds(job("graft")) == pytest.approx(2.0)
    assert estimates.seconds(job("cec")) is None


def test_unknown_jobs_count_as_the_known_ones_on_average() -> None:
    estimates = Estimates([record("graft", 2.0), record("cec", 4.0)])
    jobs = [job("graft"), job("cec"), job("sgc-mean")]
    assert estimates.total(jobs) == (9.0, 1)
    assert estimates.total([job("sgc-mean")]) == (0.0, 1)
    assert estimates.total([]) == (0.0, 0)
