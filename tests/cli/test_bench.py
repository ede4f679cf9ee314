import json
from dataclasses import asdict
from pathlib import Path

import pytest
from rich.console import Console

from nodegraft.cli.progress import SuiteDisplay
from nodegraft.evaluation.metrics import anytime_accuracy
from nodegraft.evaluation.sealed.isolation import Isolation
from nodegraft.lab.benchmark.archive import Archive
from nodegraft.lab.benchmark.job import Estimates
from nodegraft.lab.runners.local import JobEnded, JobStarted
from tests.cli.test_commands import invoke
from tests.lab.runners.runs import job

SUITE = """
title = "Two runs"
arrival = "with-class"
tables = ["overview"]
seeds = [0, 1]
datasets = [{ dataset = "synthetic", set = { nodes = 300, classes = 8 } }]
methods = [{ method = "sgc-mean" }]
"""


@pytest.fixture
def places(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "suite.toml").write_text(SUITE)
    return str(tmp_path / "suite.toml"), str(tmp_path / "runs")


def test_bench_runs_what_is_left_and_table_shows_it(places: tuple[str, str]) -> None:
    suite, runs = places
    early = invoke("lab", "table", suite, "--runs", runs)
    assert early.exit_code == 2
    assert "2 of 2 jobs have no record" in early.stderr
    assert "2 jobs to run" in invoke("lab", "bench", suite, "--out", runs, "--dry-run").stdout
    done = invoke("lab", "bench", suite, "--out", runs, "--workers", "2")
    assert done.exit_code == 0, done.stderr
    assert "2/2 sgc-mean on synthetic" in done.stderr
    assert "0 jobs to run, 2 of 2 done" in invoke("lab", "bench", suite, "--out", runs).stdout
    assert "| synthetic | sgc-mean |" in invoke("lab", "table", suite, "--runs", runs).stdout
    assert "sgc-mean" in invoke("lab", "results", runs, "--sql", "SELECT method FROM runs").stdout
    assert "2 records in 1 file:" in invoke("lab", "compact", runs).stdout
    assert "0 jobs to run, 2 of 2 done" in invoke("lab", "bench", suite, "--out", runs).stdout
    place = Path(runs, "sessions.csv")
    assert (
        invoke(
            "lab", "results", runs, "--sql", "SELECT * FROM sessions", "--csv", str(place)
        ).exit_code
        == 0
    )
    assert '""class-' in place.read_text()


def test_matrix_shows_accuracy_by_session_and_group(places: tuple[str, str]) -> None:
    suite, runs = places
    assert invoke("lab", "bench", suite, "--out", runs).exit_code == 0
    assert "There is no record" in invoke("lab", "matrix", f"{runs}-none").stderr
    unnamed = invoke("lab", "matrix", runs)
    assert unnamed.exit_code == 2
    assert "2 records in" in unnamed.stderr
    first = Archive(runs).records()[0]
    shown = invoke("lab", "matrix", runs, "--run", first.run, "--csv", "-").stdout.splitlines()
    matrix = first.accuracy_matrix()
    assert shown[0].split(",") == ['"session"', *(f'"group {i}"' for i in range(len(matrix)))]
    assert float(shown[-1].split(",")[1]) == pytest.approx(matrix[-1, 0])
    assert shown[1].endswith(",")
    assert f"anytime {100 * anytime_accuracy(matrix):.1f} %" in invoke(
        "lab", "matrix", runs, "--run", first.run
    ).stdout.replace("\n", " ")


def test_a_sealed_suite_records_its_isolation(places: tuple[str, str], tmp_path: Path) -> None:
    suite, runs = places
    Path(suite).write_text(SUITE.replace("[0, 1]", "[0]"))
    assert invoke("lab", "bench", suite, "--out", runs).exit_code == 0
    Path(suite).write_text(SUITE.replace("seeds = [0, 1]", "seeds = [0]\nsealed = true"))
    data = tmp_path / "data"
    data.mkdir()
    done = invoke("lab", "bench", suite, "--out", runs, "--data", str(data))
    assert done.exit_code == 0, done.stderr
    unsealed, sealed = sorted(Archive(runs).documents(), key=lambda one: bool(one["sealed"]))
    assert (unsealed["protocol"], unsealed["isolation"]) == ("strict", None)
    assert sealed["protocol"] == "strict, sealed"
    assert asdict(Isolation(**sealed["isolation"])) == sealed["isolation"]
    accuracies = [one["summary"]["last_accuracy"] for one in (unsealed, sealed)]
    assert accuracies[0] == accuracies[1]
    assert "0 jobs to run, 1 of 1 done" in invoke("lab", "bench", suite, "--out", runs).stdout


def test_a_dry_run_tells_how_long_it_will_take(places: tuple[str, str]) -> None:
    suite, runs = places
    assert "about" not in invoke("lab", "bench", suite, "--out", runs, "--dry-run").stdout
    Path(suite).write_text(SUITE.replace("[0, 1]", "[0]"))
    assert invoke("lab", "bench", suite, "--out", runs).exit_code == 0
    Path(suite).write_text(SUITE)
    said = invoke("lab", "bench", suite, "--out", runs, "--dry-run").stdout
    assert "1 job to run, 1 of 2 done" in said
    assert "in one process, estimated from earlier records" in said


def test_a_failed_job_is_on_record_and_tried_again_on_request(places: tuple[str, str]) -> None:
    suite, runs = places
    wrong = '{ method = "sgc-mean" }, { method = "proto-gat", set = { heads = 5 } }'
    text = SUITE.replace('{ method = "sgc-mean" }', wrong).replace("[0, 1]", "[0]")
    Path(suite).write_text(text)
    done = invoke("lab", "bench", suite, "--out", runs)
    assert done.exit_code == 2
    assert "1 of 2 jobs failed, 1 succeeded" in done.stderr
    assert "5 heads cannot share 32 numbers evenly" in done.stderr
    (told,) = Path(runs).glob("failed/*.json")
    assert "Traceback" in json.loads(told.read_text())["error"]
    again = invoke("lab", "bench", suite, "--out", runs)
    assert again.exit_code == 0
    assert "0 jobs to run, 1 of 2 done, 1 failed before" in again.stdout
    assert invoke("lab", "bench", suite, "--out", runs, "--retry-failed").exit_code == 2
    assert len([*Path(runs).glob("failed/*.json")]) == 2


def test_what_cannot_work_does_not_wait_for_its_turn(places: tuple[str, str]) -> None:
    suite, runs = places
    Path(suite).write_text(SUITE.replace('"sgc-mean" }', '"sgc-mean", set = { hop = 1 } }'))
    misspelt = invoke("lab", "bench", suite, "--out", runs)
    assert misspelt.exit_code == 2
    assert "sgc-mean has no parameter 'hop'" in misspelt.stderr
    Path(suite).write_text(
        'arrival = "present"\ndatasets = ["gentoo"]\nmethods = [{ method = "graft" }]'
    )
    nowhere = invoke("lab", "bench", suite, "--out", runs, "--data", runs)
    assert nowhere.exit_code == 2
    assert "'gentoo' needs" in nowhere.stderr
    assert not Path(runs).exists()


def test_the_display_counts_what_it_is_told() -> None:
    console = Console(record=True, force_terminal=True, width=120)
    jobs = [job(seed) for seed in range(4)]
    with SuiteDisplay(console, jobs, Estimates([]), lambda: 2) as display:
        assert display.time_left() is None
        for one in jobs[:3]:
            display.handle(JobStarted(one))
        display.handle(JobEnded(jobs[0], "here.json", seconds=4.0))
        display.handle(JobEnded(jobs[1], "failed/there.json", seconds=2.0, error="Oh:\nno luck"))
        assert display.time_left() == pytest.approx(3.0)  # two more of 3 s, two at once
    shown = console.export_text()
    for wanted in ("1 of 4 done", "1 running", "1 failed", "no luck", "failed/there.json"):
        assert wanted in shown
