"""The command on the held-out graphs: rehearsals only, their test streams are not for tests."""

from pathlib import Path

import pytest

from tests.lab.benchmark.test_real_graphs import run

# How many classes are known when the validation classes have been taught to seed 0, and a floor
# for the macro accuracy over them: below what was measured (94, 75, 77, 39 %), well above chance.
FLOORS = [
    ("coauthor-cs", 9, 0.88),
    pytest.param("linux-sources", 37, 0.68, marks=pytest.mark.slow),
    pytest.param("metamath-theorems", 43, 0.70, marks=pytest.mark.slow),
    pytest.param("treebank-roles", 22, 0.33, marks=pytest.mark.slow),
]


@pytest.mark.real_data
@pytest.mark.parametrize(("dataset", "classes", "floor"), FLOORS)
def test_rehearses_to_the_last_session(
    dataset: str, classes: int, floor: float, real_data: Path, tmp_path: Path
) -> None:
    document = run(dataset, "sgc-mean", real_data, tmp_path, "--rehearse")
    assert document["protocol"].endswith("rehearsal")
    assert document["summary"]["last_accuracy"] > floor
    assert document["sessions"][-1]["classes"] == classes
