import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nodegraft.base.files.folder import WriteOnceFolder


@pytest.fixture(params=["here", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "runs") if request.param == "here" else f"memory://{tmp_path.name}/runs"


def test_a_file_is_written_once(place: str) -> None:
    folder = WriteOnceFolder(place)
    assert folder.names(".json") == []
    assert folder.write("b.json", b"first")
    assert not folder.write("b.json", b"second")
    folder.write("a.json", b"")
    folder.write("a.parquet", b"")
    assert folder.read("b.json") == b"first"
    assert folder.names(".json") == ["a.json", "b.json"]


def test_of_many_writers_one_wins_and_the_file_is_whole(tmp_path: Path) -> None:
    contents = [bytes([number]) * 100_000 for number in range(8)]
    won: list[bytes] = []

    def write(content: bytes) -> None:
        if WriteOnceFolder(tmp_path).write("one", content):
            won.append(content)

    writers = [threading.Thread(target=write, args=(content,)) for content in contents]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert won == [WriteOnceFolder(tmp_path).read("one")]
    assert [path.name for path in tmp_path.iterdir()] == ["one"]  # no draft is left


def test_a_draft_cut_short_is_no_file(tmp_path: Path) -> None:
    (tmp_path / ".a.json.0123").write_text("{")
    assert WriteOnceFolder(tmp_path).names("") == []


def test_a_file_that_is_taken_in_is_linked_whole_and_counts_as_new(tmp_path: Path) -> None:
    source, link = tmp_path / "source", tmp_path / "link"
    source.write_bytes(b"numbers")
    source.chmod(0o600)
    link.symlink_to(source)
    os.utime(source, (0, 0))
    folder = WriteOnceFolder(tmp_path / "folder")
    assert folder.adopt("a", link)
    assert not folder.adopt("a", link)
    place = folder.local_path("a")
    assert place is not None
    assert not place.is_symlink()
    assert place.samefile(source)
    # Nobody writes into it any more, and who could not read it still cannot.
    assert stat.S_IMODE(place.stat().st_mode) == 0o400
    # As old as the file it was, it would be taken for what a killed process has left.
    assert folder.files()["a"].written > datetime.now(UTC) - timedelta(minutes=5)


def test_what_cannot_be_linked_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"numbers")
    source.chmod(0o600)
    linked = Path.hardlink_to

    def refused(place: Path, target: Path) -> None:
        if Path(target) == source:
            raise OSError("another file system")
        linked(place, target)

    monkeypatch.setattr(Path, "hardlink_to", refused)
    folder = WriteOnceFolder(tmp_path / "folder")
    assert [folder.adopt("a", source), folder.adopt("a", source)] == [True, False]
    assert folder.read("a") == b"numbers"
    place = folder.local_path("a")
    assert place is not None
    assert stat.S_IMODE(place.stat().st_mode) == 0o400
    assert list(folder.files()) == ["a"]
