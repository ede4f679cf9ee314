from pathlib import Path

import pytest

from nodegraft.base.errors import ParameterError
from nodegraft.lab.benchmark.archive import Archive, read_documents, write_failure
from nodegraft.lab.benchmark.query import query_records
from tests.lab.runners.runs import job


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    for one in (job(0), job(1), job(0, hops=1)):
        loaded = one.load()
        Archive(place).write(one.run(loaded, one.stream(loaded)))
    write_failure(place, job(7), "Traceback: no luck")
    return place


def test_the_tables_say_what_the_records_say(runs: Path) -> None:
    records = read_documents(runs)
    summary = {record["run"]: record["summary"]["last_accuracy"] for record in records}
    answer = query_records(runs, "SELECT run, last_accuracy FROM runs").to_pylist()
    assert {row["run"]: row["last_accuracy"] for row in answer} == summary
    counted = "SELECT count(*) AS n FROM {}"
    sessions = sum(len(record["sessions"]) for record in records)
    classes = sum(one["classes"] for record in records for one in record["sessions"])
    assert query_records(runs, counted.format("sessions")).to_pylist() == [{"n": sessions}]
    assert query_records(runs, counted.format("classes")).to_pylist() == [{"n": classes}]


def test_what_was_set_is_told(runs: Path) -> None:
    answer = query_records(runs, "SELECT DISTINCT changed FROM runs ORDER BY changed").to_pylist()
    assert [row["changed"] for row in answer] == [
        "hops=1, nodes=300, classes=8",
        "nodes=300, classes=8",
    ]


def test_failures_are_a_table(runs: Path) -> None:
    answer = query_records(runs, "SELECT title, error FROM failures").to_pylist()
    assert answer == [{"title": "sgc-mean on synthetic, seed 7", "error": "Traceback: no luck"}]


def test_a_wrong_query_and_an_empty_folder_say_so(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"DuckDB says: .*accurcy"):
        query_records(runs, "SELECT accurcy FROM runs")
    with pytest.raises(ParameterError, match="No record"):
        query_records(tmp_path)
