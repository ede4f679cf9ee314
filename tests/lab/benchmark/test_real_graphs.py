"""The command on the four real graphs, as a user runs it."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.lab.benchmark.archive import Archive
from tests.slow_suite import slow

RESULTS = Path(__file__).parents[3] / "results"

# Last-session macro accuracy of seed 0 must stay above these: well below what was measured
# (README.md), well above what a broken method reaches.
FLOORS = [
    ("amazon-clothing", "graft", 0.80),
    ("amazon-clothing", "sgc-mean", 0.75),
    ("amazon-clothing", "proto-gcn", 0.40),
    pytest.param("amazon-clothing", "hag-meta", 0.60, marks=slow),
    pytest.param("gentoo", "graft", 0.58, marks=slow),
    ("gentoo", "sgc-mean", 0.45),
    pytest.param("gentoo", "proto-gcn", 0.18, marks=slow),
    pytest.param("debian", "graft", 0.65, marks=slow),
    pytest.param("debian", "proto-gcn", 0.28, marks=slow),
    ("wordnet", "graft", 0.74),
    pytest.param("wordnet", "proto-gcn", 0.25, marks=slow),
]


def run(dataset: str, method: str, data: Path, out: Path, *more: str) -> dict[str, Any]:
    arguments = ["lab", "run", "--dataset", dataset, "--method", method, "--seed", "0"]
    places = ["--data", str(data), "--out", str(out), "--json"]
    done = CliRunner().invoke(app, [*arguments, *places, *more])
    assert done.exit_code == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)["record"]
    return document


@pytest.mark.real_data
@pytest.mark.parametrize(("dataset", "method", "floor"), FLOORS)
def test_runs_to_the_last_session(
    dataset: str, method: str, floor: float, real_data: Path, tmp_path: Path
) -> None:
    document = run(dataset, method, real_data, tmp_path)
    assert document["summary"]["last_accuracy"] > floor
    assert document["sessions"][-1]["classes"] == sum(
        document["setting"][role] for role in ("base", "pseudo_novel", "novel")
    )


@pytest.mark.real_data
@pytest.mark.parametrize("method", ["sgc-mean", "graft"])
def test_a_recorded_result_comes_out_again(method: str, real_data: Path, tmp_path: Path) -> None:
    again = run("amazon-clothing", method, real_data, tmp_path)
    earlier = Archive(RESULTS).find(again["run"])
    assert earlier is not None
    for one, other in zip(again["sessions"], earlier.document["sessions"], strict=True):
        assert one["macro_accuracy"] == other["macro_accuracy"]  # to the last digit
        assert one["micro_accuracy"] == other["micro_accuracy"]
