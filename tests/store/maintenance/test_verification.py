"""What `verify` finds, what it records, and when a store is opened again."""

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nodegraft.base.errors import StoreError, UnfinishedStoreError
from nodegraft.base.events import Listener
from nodegraft.base.files.array_file import SIDECAR
from nodegraft.base.files.folder import StoredFile, WriteOnceFolder
from nodegraft.cli.app import app
from nodegraft.store.intent import Intent
from nodegraft.store.maintenance.verification import Verification
from nodegraft.store.store import Store
from nodegraft.store.versions.audit import audit_entries
from nodegraft.store.versions.database import database_url
from nodegraft.store.versions.migration import migrated
from tests.store.small import made


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("verified") / "shop"
    store, new = made(place, method="graft")
    with store:
        store.add(new)
        store.promote(intent=Intent(note="a note of some length"))
        store.predict()
    return place


@pytest.fixture
def shop(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path / "shop")
    return tmp_path / "shop"


def flip(path: Path, place: int = -3) -> None:
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)


def model_of(shop: Path) -> Path:
    with Store.open(shop) as store:
        return shop / "objects" / store.version().model


def in_database(statement: str, *values: str) -> Callable[[Path], Path]:
    def change(shop: Path) -> Path:
        with closing(sqlite3.connect(shop / "store.db")) as database, database:
            assert database.execute(statement, values).rowcount == 1
        return shop / "store.db"

    return change


def test_a_whole_store_is_clean(shop: Path) -> None:
    stages = set()

    class Seen(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            assert done <= total
            stages.add(stage)

    listener = Seen()
    found = Store.verify(shop, listener=listener)
    assert found == Verification(found.files, 0, (), "")
    # All files but the two halves of the log that SQLite may leave, and the checksums of cards.
    assert found.files == sum(
        path.is_file()
        and "store.db-" not in path.name
        and path.name != "store-id"
        and path.suffix != SIDECAR
        for path in shop.rglob("*")
    )
    assert stages == {"verify objects", "verify derived data"}


def test_damage_is_recorded_until_it_is_repaired(shop: Path) -> None:
    model = model_of(shop)
    flip(model)
    (found,) = Store.verify(shop, author="anna").findings
    assert (found.file, found.blocks) == (str(model), True)
    assert found.problem.startswith("is damaged: its checksum is wrong")
    assert "needed by version 2" in found.advice
    for refused in (Store.open, lambda place: Store.verify(place).findings and Store.open(place)):
        with pytest.raises(StoreError, match=rf"{model.name}, found by `nodegraft verify` on \d"):
            refused(shop)
    flip(model)
    with pytest.raises(StoreError, match="when it finds no damage, the store opens again"):
        Store.open(shop)
    assert Store.verify(shop, author="bert").is_clean
    with Store.open(shop) as store:
        store.predict(store.graph().keys_of([1]))
        with store.parts.journal.connection() as connection:
            entries = audit_entries(connection)
    assert [(entry.by, entry.detail["name"]) for entry in entries][::2] == [
        ("anna", "damage"),
        ("bert", "damage"),
    ]


def test_a_file_that_is_gone_is_named(shop: Path) -> None:
    model = model_of(shop)
    model.unlink()
    assert [one.file for one in Store.verify(shop).findings] == [str(model)]


def test_damaged_derived_data_is_removed_and_blocks_nobody(shop: Path) -> None:
    cache = next(path for path in (shop / "derived").rglob("*") if path.is_file())
    flip(cache)
    (found,) = Store.verify(shop).findings
    assert (found.file, found.blocks, cache.exists()) == (str(cache), False, False)
    assert "computed again" in found.advice
    Store.open(shop).close()
    assert Store.verify(shop).is_clean


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE promotions SET note = replace(note, 'some', 'sole') WHERE number = 2",
        "UPDATE versions SET at = replace(at, '2', '3') WHERE number = 1",
        "UPDATE settings SET value = '\"0\"' WHERE name = 'store_id'",
        "UPDATE settings SET name = 'digest:versionr' WHERE name = 'digest:versions'",
        "DELETE FROM promotions WHERE number = 2",
        'INSERT INTO promotions (number, version, action, "by", note, at) '
        'SELECT 3, 1, action, "by", note, at FROM promotions WHERE number = 2',
    ],
)
def test_a_row_that_was_changed_is_found(statement: str, shop: Path) -> None:
    place = in_database(statement)(shop)
    assert str(place) in [one.file for one in Store.verify(shop).findings]
    with pytest.raises(StoreError, match="This store is damaged"):
        Store.open(shop)
    # What was recorded does not make the change look right.
    assert str(place) in [one.file for one in Store.verify(shop).findings]


@pytest.mark.parametrize("digest", ["{}", "[]", '{"last": "1", "digest": ""}', "nonsense"])
def test_a_hash_that_is_none_keeps_nobody_from_writing(digest: str, shop: Path) -> None:
    in_database("UPDATE settings SET value = ? WHERE name = 'digest:promotions'", digest)(shop)
    with Store.open(shop) as store:
        store.promote(1)
    assert Store.verify(shop).is_clean


def test_nothing_is_written_into_a_database_without_its_form(shop: Path) -> None:
    # The first page of a table: the number of its cells.
    flip(shop / "store.db", 4096 + 4)
    before = (shop / "store.db").read_bytes()
    assert [one.file for one in Store.verify(shop).findings] == [str(shop / "store.db")]
    assert (shop / "store.db").read_bytes() == before
    assert (shop / "damage.json").exists()
    with pytest.raises(StoreError):
        Store.open(shop)
    flip(shop / "store.db", 4096 + 4)
    assert Store.verify(shop).is_clean
    assert not (shop / "damage.json").exists()
    Store.open(shop).close()


@pytest.mark.parametrize("place", [0, 5, 20, -2])
def test_settings_that_are_not_as_written_are_found(place: int, shop: Path) -> None:
    flip(shop / "store.json", place)
    assert [one.file for one in Store.verify(shop).findings] == [str(shop / "store.json")]


@pytest.mark.parametrize(
    ("value", "said"),
    [("1e9", "a number from 0 to 1"), ("[]", "a number from 0 to 1"), ("{", "cannot be read")],
)
def test_a_setting_that_is_not_allowed_is_named(value: str, said: str, shop: Path) -> None:
    in_database("INSERT INTO settings VALUES ('max_removed_share', ?)", value)(shop)
    with Store.open(shop) as store:
        with pytest.raises(StoreError, match=f"Setting max_removed_share .*{said}"):
            store.setting("max_removed_share")
        if value != "{":
            store.set_setting("max_removed_share", 0.1)
            assert store.setting("max_removed_share") == 0.1


@pytest.mark.parametrize(
    "value", ["{", "{}", "7", '{"at": "", "count": 0, "files": []}', '{"files": "abc"}']
)
def test_a_record_of_damage_that_is_none_is_refused(value: str, shop: Path) -> None:
    in_database("INSERT INTO settings VALUES ('damage', ?)", value)(shop)
    with pytest.raises(StoreError, match=r"This store is damaged|Setting damage in the store"):
        Store.open(shop)


def refuse_to_verify(shop: Path, reason: str) -> None:
    """Nothing is recorded where `verify` could not look."""
    with pytest.raises(StoreError, match=f"could not be verified: .*{reason}.* Nothing was rec"):
        Store.verify(shop)
    assert not (shop / "damage.json").exists()


def test_a_locked_database_is_no_damage(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nodegraft.store.versions.database.WAIT_SECONDS", 0)
    with closing(sqlite3.connect(shop / "store.db", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        refuse_to_verify(shop, "Another process has been writing")
        other.execute("ROLLBACK")
    Store.open(shop).close()


def test_an_object_that_cannot_be_read_is_no_damage(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, read = model_of(shop).name, WriteOnceFolder.read

    def denied(folder: WriteOnceFolder, name: str) -> bytes:
        if name == model:
            raise PermissionError(13, "Permission denied")
        return read(folder, name)

    with monkeypatch.context() as patch:
        patch.setattr(WriteOnceFolder, "read", denied)
        refuse_to_verify(shop, f"{model} cannot be read: Permission denied")
    Store.open(shop).close()


def test_a_place_that_is_away_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "shop", objects=str(tmp_path / "place"))[0].close()
    (tmp_path / "place").rename(tmp_path / "other")
    refuse_to_verify(tmp_path / "shop", "is it mounted")
    (tmp_path / "other").rename(tmp_path / "place")

    def away(_: WriteOnceFolder) -> None:
        raise OSError("EndpointConnectionError: no answer")

    with monkeypatch.context() as patch:
        patch.setattr(WriteOnceFolder, "files", away)
        refuse_to_verify(tmp_path / "shop", "EndpointConnectionError")
    assert Store.verify(tmp_path / "shop").is_clean


def test_a_place_behind_a_link_blocks_nobody(tmp_path: Path) -> None:
    made(tmp_path / "shop", objects=str(tmp_path / "place"))[0].close()
    (tmp_path / "place").rename(tmp_path / "disk")
    (tmp_path / "place").symlink_to(tmp_path / "disk")
    (found,) = Store.verify(tmp_path / "shop").findings
    assert ("is a symbolic link" in found.problem, found.blocks) == (True, False)
    Store.open(tmp_path / "shop").close()


@pytest.mark.parametrize("objects", ["rel", "../rel", "{folder}/x/../rel"])
def test_a_place_is_found_from_every_folder(
    objects: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x").mkdir()
    monkeypatch.chdir(tmp_path / "x")
    made(tmp_path / "shop", objects=objects.format(folder=tmp_path))[0].close()
    monkeypatch.chdir(tmp_path)
    assert Store.verify(tmp_path / "shop").is_clean
    Store.open(tmp_path / "shop").close()


def test_dots_in_a_path_of_objects_are_resolved_where_that_is_certain(tmp_path: Path) -> None:
    made(tmp_path / "shop", objects=str(tmp_path / "place"))[0].close()
    settings = tmp_path / "shop" / "store.json"
    settings.chmod(0o644)
    for objects, opens in ((f"{tmp_path}/shop/../place", True), ("../place", False)):
        settings.write_text(json.dumps({"format": 1, "database": None, "objects": objects}))
        if opens:
            Store.open(tmp_path / "shop").close()
        else:
            with pytest.raises(StoreError, match="must be an absolute path or a URL without"):
                Store.open(tmp_path / "shop")


def test_the_form_of_the_settings_file_is_no_damage(shop: Path) -> None:
    (shop / "store.json").chmod(0o644)
    (shop / "store.json").write_text('{"objects": null,"database":null, "format":1}')
    assert Store.verify(shop).is_clean


def test_a_store_of_a_newer_nodegraft_is_no_damage(shop: Path) -> None:
    in_database("UPDATE alembic_version SET version_num = '9999'")(shop)
    with pytest.raises(StoreError, match="newer than this nodegraft knows"):
        Store.verify(shop)
    in_database("UPDATE alembic_version SET version_num = '0100'")(shop)
    Store.open(shop).close()


@pytest.mark.parametrize("tables", [True, False])
def test_an_unfinished_store_is_called_so(tables: bool, shop: Path) -> None:
    (shop / "store.db").unlink()
    if tables:
        migrated(database_url(shop, None)).close()
    else:
        sqlite3.connect(shop / "store.db").close()
        (shop / "store.db").touch()
    with pytest.raises(UnfinishedStoreError):
        Store.verify(shop)


def test_a_file_that_is_deleted_meanwhile_is_skipped(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = WriteOnceFolder.files

    def and_another(folder: WriteOnceFolder) -> dict[str, StoredFile]:
        files = listed(folder)
        return {**files, "a" * 64: next(iter(files.values()))}

    monkeypatch.setattr(WriteOnceFolder, "files", and_another)
    found = Store.verify(shop)
    assert (found.is_clean, found.unused) == (True, 0)


def test_the_command_names_files_and_has_an_exit_code(shop: Path) -> None:
    done = CliRunner().invoke(app, ["verify", str(shop)])
    assert (done.exit_code, "files verified, no damage" in done.output) == (0, True)
    model = model_of(shop)
    flip(model)
    done = CliRunner().invoke(app, ["verify", str(shop)])
    assert done.exit_code == 1
    assert f"{model}: is damaged" in done.output
    assert "1 damaged file of" in done.output
    assert "To do: restore it from a backup, under the same name" in done.output
    done = CliRunner().invoke(app, ["predict", str(shop), "--nodes", "1"])
    assert (done.exit_code, "This store is damaged" in done.output) == (2, True)
