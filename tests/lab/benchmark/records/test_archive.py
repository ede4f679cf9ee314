import json
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from nodegraft.base.errors import DataError, RecordConflictError
from nodegraft.lab.benchmark.archive import Archive, pack, read_documents
from nodegraft.lab.benchmark.record import RunRecord, run_name
from tests.lab.benchmark.records.test_record import record

RESULTS = Path(__file__).parents[4] / "results"


@pytest.fixture(params=["here", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "runs") if request.param == "here" else f"memory://{tmp_path.name}/runs"


def test_a_record_is_never_overwritten(tmp_path: Path) -> None:
    made = record()
    place = Path(Archive(tmp_path).write(made))
    written = place.read_bytes()
    assert not place.stat().st_mode & stat.S_IWUSR
    assert Archive(tmp_path).write(record()) == str(place)
    assert place.read_bytes() == written
    assert [path.name for path in tmp_path.iterdir()] == [f"{made.run}.json"]


@pytest.mark.parametrize("packed", [False, True])
def test_a_rerun_that_disagrees_is_an_error(packed: bool, place: str) -> None:
    made = record()
    Archive(place).write(made)
    if packed:
        Archive(place).compact()
    made.document["sessions"][0]["macro_accuracy"] += 0.01
    with pytest.raises(RecordConflictError, match=r"says something else .* made by nodegraft"):
        Archive(place).write(made)


def test_packing_changes_where_records_lie_and_nothing_they_say(place: str) -> None:
    archive = Archive(place)
    for one in (record(), record(seed=1), record(hops=1)):
        archive.write(one)
    before = archive.documents(), [one.classes.to_pylist() for one in archive.records()]
    (name,) = archive.compact()
    assert name.startswith("synthetic-")
    assert (archive.documents(), [one.classes.to_pylist() for one in archive.records()]) == before
    found = archive.find(record(seed=1).run)
    assert found is not None
    assert found.document == next(one for one in before[0] if one["run"] == found.run)
    assert archive.find("nobody") is None
    # What comes later lies loose beside the pack, until it is packed too.
    archive.write(record(seed=2))
    assert len(archive.documents()) == 4
    (again,) = archive.compact()
    assert again != name
    assert len(archive.documents()) == 4
    assert archive.compact() == [again]
    archive.write(record())
    assert archive.compact() == [again]


def test_a_record_in_two_places_is_one(tmp_path: Path) -> None:
    """As whoever is killed between packing and taking away leaves it."""
    archive = Archive(tmp_path)
    place = Path(archive.write(record()))
    loose = place.read_bytes()
    archive.compact()
    place.write_bytes(loose)
    assert len(archive.documents()) == len(archive.records()) == 1
    archive.compact()
    assert not place.exists()


KILLED = """
import os, signal, sys
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.lab.benchmark.archive import Archive
left = int(sys.argv[2])
def counted(verb):
    def call(self, *arguments):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return verb(self, *arguments)
    return call
WriteOnceFolder.write = counted(WriteOnceFolder.write)
WriteOnceFolder.remove = counted(WriteOnceFolder.remove)
Archive(sys.argv[1]).compact()
"""


def test_packing_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    for moment in range(10):
        place = tmp_path / str(moment)
        archive = Archive(place)
        for one in (record(), record(seed=1)):
            archive.write(one)
        before = archive.documents()
        command = [sys.executable, "-c", KILLED, str(place), str(moment)]
        done = subprocess.run(command, timeout=120, check=False)
        assert read_documents(place) == before
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert moment == 3  # one pack, two loose files
    assert len([*place.iterdir()]) == 1


def test_other_files_are_no_records(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    (tmp_path / "table.parquet").write_text("")
    assert read_documents(tmp_path) == []


def test_a_pack_is_parquet_that_anybody_can_read(tmp_path: Path) -> None:
    (tmp_path / "x.parquet").write_bytes(pack([record(), record(seed=1)]))
    table = pq.read_table(tmp_path / "x.parquet")
    assert table.column_names == ["run", "document", "classes"]
    assert table.num_rows == 2


def test_a_run_with_another_default_is_another_run(tmp_path: Path) -> None:
    archive, first = Archive(tmp_path), record(hops=2)
    archive.write(first)
    # The day after, one hop is the default.
    later = record(hops=1)
    later.document["changed_parameters"] = {}
    later = RunRecord({**later.document, "run": first.run}, later.classes)
    place = archive.write(later)
    assert archive.write(later) == place
    hops = {one["run"]: one["parameters"]["hops"] for one in archive.documents()}
    assert len(hops) == 2
    assert hops[first.run] == 2


def test_two_files_that_disagree_about_a_run_are_left_alone(tmp_path: Path) -> None:
    archive, made = Archive(tmp_path), record()
    archive.write(made)
    archive.compact()
    made.document["sessions"][0]["macro_accuracy"] += 0.01
    (tmp_path / f"{made.run}.json").write_bytes(made.to_bytes())
    before = sorted(tmp_path.iterdir())
    for look in (archive.documents, archive.records, archive.compact):
        with pytest.raises(RecordConflictError):
            look()
    assert sorted(tmp_path.iterdir()) == before


def test_recalls_of_classes_are_compared_too(tmp_path: Path) -> None:
    archive, made = Archive(tmp_path), record()
    archive.write(made)
    wrong = pc.multiply(made.classes["recall"], 0.0)
    classes = made.classes.set_column(3, made.classes.schema.field(3), wrong)
    with pytest.raises(RecordConflictError):
        archive.write(RunRecord(made.document, classes))


def test_readers_and_writers_do_not_mind_a_compaction(tmp_path: Path) -> None:
    archive, stop, errors = Archive(tmp_path), Event(), list[Exception]()
    made = [record(seed=seed) for seed in range(4)]

    def again_and_again(act: Callable[[], object]) -> None:
        while not stop.is_set():
            try:
                act()
            except Exception as error:
                errors.append(error)
                return

    acts = (archive.compact, archive.documents, lambda: archive.find(made[0].run), archive.compact)
    threads = [Thread(target=again_and_again, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for one in made:
        for _ in range(5):
            archive.write(one)
    stop.set()
    for thread in threads:
        thread.join()
    assert errors == []
    assert {one["run"] for one in archive.documents()} == {one.run for one in made}


@pytest.mark.parametrize("content", [b"{", b"[]", b'{"schema": 6}', b"\xff"])
def test_a_damaged_record_is_named(tmp_path: Path, content: bytes) -> None:
    name = f"{'0' * 32}.json"
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"{name} is no whole record"):
        Archive(tmp_path).documents()


@pytest.mark.parametrize("schema", [5, 99])
def test_a_record_of_another_schema_is_refused_by_name(tmp_path: Path, schema: int) -> None:
    name = f"{'0' * 32}.json"
    (tmp_path / name).write_text(json.dumps({"schema": schema}))
    with pytest.raises(DataError, match=rf"{name}: A record has schema {schema}, .* schema 6"):
        Archive(tmp_path).documents()


def test_every_committed_record_names_the_code_that_made_it() -> None:
    documents = read_documents(RESULTS)
    assert len(documents) >= 1007
    for document in documents:
        assert document["run"] == run_name(document)
        assert document["source"].get("commit") or document["source"].get("hash")
