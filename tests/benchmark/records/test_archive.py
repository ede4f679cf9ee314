import signal
import stat
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from nodegraft.base.errors import RecordConflictError
from nodegraft.benchmark.records.archive import Archive, read_documents
from nodegraft.benchmark.records.pack import pack
from tests.benchmark.records.test_record import record


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
    assert archive.find(record(seed=1).run) == next(
        one for one in before[0] if one["run"] == record(seed=1).run
    )
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
from nodegraft.benchmark.records.archive import Archive
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
