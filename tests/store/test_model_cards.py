"""A model card is written after the promotion, once, and neither delays nor prevents it."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event
from time import monotonic, sleep
from typing import Any

import pytest
from typer.testing import CliRunner

from nodegraft.analysis.card import markdown
from nodegraft.base.files.folder import WriteOnceFolder
from nodegraft.cli.app import app
from nodegraft.service.live.writer_process import WriterProcess
from nodegraft.store.intent import Intent
from nodegraft.store.objects.place import CARDS
from nodegraft.store.store import Store
from tests.service.served import asked, written
from tests.store.small import made

New = dict[str, list[Any]]
Drawing = Callable[..., dict[str, str]]
draw: Drawing = markdown.card_files


@pytest.fixture
def waiting(tmp_path: Path) -> Path:
    """A store whose version 2 waits for review."""
    store, new = made(tmp_path / "shop", method="graft")
    store.add(new, intent=Intent(override="a small store knows little"))
    store.close()
    return tmp_path / "shop"


@pytest.fixture
def may_end(monkeypatch: pytest.MonkeyPatch) -> Iterator[Event]:
    """A card takes until the event is set."""
    event = Event()

    def slow(*given: Any) -> dict[str, str]:
        event.wait(60.0)
        return draw(*given)

    monkeypatch.setattr(markdown, "card_files", slow)
    yield event
    event.set()


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """No card can be drawn; the list has an entry for each attempt."""
    attempts = list[int]()

    def failing(*_: Any) -> dict[str, str]:
        attempts.append(1)
        raise ValueError("no font")

    monkeypatch.setattr(markdown, "card_files", failing)
    return attempts


def test_a_slow_card_delays_no_promotion(waiting: Path, may_end: Event) -> None:
    with Store.open(waiting, background_cards=True) as store:
        assert (store.promote().version, store.live) == (2, 2)
        assert not store.card_path().exists()
        assert store.undo().number == 3
        may_end.set()
        assert written(waiting)


def test_a_card_that_does_not_end_delays_no_close(
    waiting: Path, may_end: Event, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store.open(waiting, background_cards=True)
    store.promote()
    started = monotonic()
    store.close()
    assert monotonic() - started < 10.0
    assert "model card of version 2 is not finished" in caplog.text


def test_a_slow_card_delays_no_caller_over_http(waiting: Path, may_end: Event) -> None:
    with asked(waiting) as client:
        assert client.post("/v1/versions/2:promote").json()["model_version"] == 2
        assert client.get("/readyz").json()["model_version"] == 2
        assert client.post("/v1/versions/2:undo").json()["model_version"] == 3
        assert not (waiting / "cards").exists()
        may_end.set()
        assert written(waiting)


def promote(store: Store) -> int:
    return store.promote().version


def undo(store: Store) -> int:
    return store.undo().number


def draw_slowly(place: Path, _: Store) -> None:
    def slow(*given: Any) -> dict[str, str]:
        while not (place / "end").exists():
            sleep(0.01)
        return draw(*given)

    vars(markdown)["card_files"] = slow


def test_a_slow_card_delays_no_job_of_the_writer_process(waiting: Path) -> None:
    writer = WriterProcess.start(waiting)
    assert writer is not None
    try:
        writer.run(partial(draw_slowly, waiting.parent))
        assert (writer.run(promote), writer.run(undo)) == (2, 3)
        assert not (waiting / "cards").exists()
        (waiting.parent / "end").touch()
        assert written(waiting)
    finally:
        (waiting.parent / "end").touch()
        writer.close()


def test_a_card_that_fails_is_logged_once_and_written_later(
    waiting: Path, failed: list[int], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    result = CliRunner().invoke(app, ["promote", str(waiting)])
    assert result.exit_code == 0
    assert "Version 2 is live." in result.stdout
    assert "Model card" not in result.stdout
    assert failed == [1]
    (record,) = caplog.records
    assert "was promoted" in record.message
    assert "no font" in record.message
    command = record.message.partition("nodegraft card ")[2].split()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markdown, "card_files", draw)
        assert CliRunner().invoke(app, ["card", *command]).exit_code == 0
    assert (waiting / "cards" / "version-2.md").exists()


def test_a_card_that_fails_does_not_affect_a_promotion_over_http(
    waiting: Path, failed: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    with asked(waiting) as client:
        assert client.post("/v1/versions/2:promote").status_code == 200
        assert client.get("/v1/versions").json()["live"] == 2
    assert failed == [1]
    assert "no font" in caplog.text


def test_a_version_that_was_purged_meanwhile_gets_no_card(
    waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(waiting) as store:
        node = store.state(2).labels.owners().popitem()[0]

        def late(*given: Any) -> dict[str, str]:
            with Store.open(waiting) as other:
                other.purge([node])
            return draw(*given)

        monkeypatch.setattr(markdown, "card_files", late)
        store.promote()
        # Notes in the history of the card could name the node.
        assert not store.card_path(2).exists()


def test_a_purge_that_ends_while_files_are_written_leaves_none_of_them(
    waiting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(waiting) as store:
        nodes = [store.state(2).labels.owners().popitem()[0]]

        def late(self: WriteOnceFolder, name: str, content: bytes) -> bool:
            while self.place.endswith(CARDS) and nodes:
                with Store.open(waiting) as other:
                    other.purge([nodes.pop()])
            return write(self, name, content)

        write = WriteOnceFolder.write
        monkeypatch.setattr(WriteOnceFolder, "write", late)
        store.promote()
        assert not nodes
        assert not list((waiting / CARDS).iterdir())
