"""Store folders that somebody else has prepared: nothing outside of them is touched."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import time
from typing import Any

import pytest
from typer.testing import CliRunner

from nodegraft.cli.app import app
from nodegraft.store.maintenance import pruning
from nodegraft.store.store import Store
from tests.store.small import made

OBJECT = "b" * 64
"""A name of the object scheme, of a file that is not the store's."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    store, new = made(folder / "shop", method="graft")
    with store:
        for name, nodes in new.items():
            store.add({name: nodes[:4]})
            store.label({name: nodes[4:]})
        store.promote()
        store.predict()
    (folder / "shop" / "cards").mkdir(exist_ok=True)
    return folder / "shop"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder with files that look like objects, old enough to be taken for leftovers."""
    place = tmp_path / "outside"
    (place / "propagated").mkdir(parents=True)
    long_ago = time() - 2 * pruning.ABANDONED.total_seconds()
    for name in ("letter.txt", OBJECT, f".{OBJECT}.{'d' * 32}", "version-1.md"):
        (place / name).write_text("mine")
        os.utime(place / name, (long_ago, long_ago))
    return place


def seen(place: Path) -> dict[str, Any]:
    return {
        str(path.relative_to(place)): (path.read_bytes() if path.is_file() else None)
        for path in place.rglob("*")
    }


def linked(name: str) -> Callable[[Path, Path], None]:
    def prepare(store: Path, outside: Path) -> None:
        if (store / name).exists():
            # With all that the store needs, so that only the link can be the reason to refuse.
            shutil.copytree(store / name, outside, dirs_exist_ok=True)
            shutil.rmtree(store / name)
        (store / name).symlink_to(outside)

    return prepare


def linked_graph_cache(store: Path, outside: Path) -> None:
    graph = next(path for path in (store / "derived").iterdir() if path.is_dir())
    shutil.rmtree(graph)
    graph.symlink_to(outside)


def linked_layers(store: Path, outside: Path) -> None:
    graph = next(path for path in (store / "derived").iterdir() if path.is_dir())
    (graph / "propagated").symlink_to(outside / "propagated")


def linked_objects(store: Path, outside: Path) -> None:
    for path in sorted((store / "objects").iterdir()):
        shutil.move(path, outside / path.name)
        path.symlink_to(outside / path.name)


def linked_leftover(store: Path, outside: Path) -> None:
    (store / "objects" / OBJECT).symlink_to(outside / OBJECT)


def linked_database(store: Path, outside: Path) -> None:
    shutil.move(store / "store.db", outside / "store.db")
    (store / "store.db").symlink_to(outside / "store.db")


def settings(store: Path, **changes: Any) -> None:
    document = json.loads((store / "store.json").read_text()) | changes
    (store / "store.json").chmod(0o644)
    (store / "store.json").write_text(json.dumps(document, indent=2) + "\n")


def foreign_objects(store: Path, outside: Path) -> None:
    settings(store, objects=str(outside))


def foreign_objects_with_ours(store: Path, outside: Path) -> None:
    shutil.copytree(store / "objects", outside, dirs_exist_ok=True)
    (outside / "store-id").unlink()
    settings(store, objects=str(outside))


def another_stores_objects(store: Path, outside: Path) -> None:
    foreign_objects_with_ours(store, outside)
    (outside / "store-id").write_text("0" * 32 + "\n")


def objects_above(store: Path, outside: Path) -> None:
    settings(store, objects=f"{store}/../{outside.name}")


def rows(sql: str) -> Callable[[Path, Path], None]:
    def prepare(store: Path, outside: Path) -> None:
        with closing(sqlite3.connect(store / "store.db")) as database, database:
            database.execute(sql.format(outside=outside, object=OBJECT))

    return prepare


PREPARED: dict[str, Callable[[Path, Path], None]] = {
    "objects is a link": linked("objects"),
    "derived is a link": linked("derived"),
    "cards is a link": linked("cards"),
    "the cache of a graph is a link": linked_graph_cache,
    "layers are a link": linked_layers,
    "objects are links": linked_objects,
    "a leftover is a link": linked_leftover,
    "the database is a link": linked_database,
    "objects of somebody else": foreign_objects,
    "objects without a marker": foreign_objects_with_ours,
    "objects of another store": another_stores_objects,
    "objects above": objects_above,
    "objects is no text": lambda store, _: settings(store, objects=["/"]),
    "a field nobody knows": lambda store, _: settings(store, cards="/"),
    "a graph above": rows("UPDATE versions SET graph = '../../outside/letter.txt'"),
    "labels at the root": rows("UPDATE versions SET labels = '{outside}/letter.txt'"),
    "a model above, pruned": rows("UPDATE versions SET model = '../outside/x' WHERE number = 2"),
    "texts above": rows("UPDATE versions SET texts = '../../outside/letter.txt'"),
    "an object of somebody else": rows("UPDATE versions SET graph = '{object}'"),
    "a list that is none": rows("UPDATE versions SET detail = '[1' WHERE number = 1"),
    "a prune of nothing": rows(
        "UPDATE versions SET action = 'prune', detail = '{{}}' WHERE number = 2"
    ),
    "a time that is none": rows("UPDATE versions SET at = 'yesterday' WHERE number = 1"),
}
COMMANDS = (
    ["history"],
    ["predict", "--nodes", "7"],
    ["prune", "--keep", "1"],
    ["purge", "7", "--yes"],
    ["verify"],
    ["migrate"],
    ["predict", "--nodes", "8"],
    ["promote", "--version", "1"],
)


@pytest.fixture
def hostile(shop: Path, tmp_path: Path) -> Path:
    shutil.copytree(shop, tmp_path / "shop")
    return tmp_path / "shop"


@pytest.mark.parametrize("what", PREPARED)
def test_nothing_outside_is_touched(what: str, hostile: Path, outside: Path) -> None:
    PREPARED[what](hostile, outside)
    before, codes = seen(outside), []
    for command in COMMANDS:
        done = CliRunner().invoke(app, [command[0], str(hostile), *command[1:]])
        told = f"{command}: {done.output}"
        assert done.exception is None or isinstance(done.exception, SystemExit), told
        assert "Traceback" not in done.output
        codes.append(done.exit_code)
        assert seen(outside) == before, told
    assert any(codes) or what == "a leftover is a link"


def test_settings_may_be_a_link(hostile: Path, outside: Path) -> None:
    # A configuration that is mounted, as Kubernetes does it.
    shutil.move(hostile / "store.json", outside / "store.json")
    (hostile / "store.json").symlink_to(outside / "store.json")
    before = seen(outside)
    with Store.open(hostile) as store:
        store.prune(keep=1)
    assert Store.verify(hostile).is_clean
    assert seen(outside) == before
    assert (hostile / "store.json").is_symlink()


def test_a_prune_of_its_own_place_elsewhere_works(tmp_path: Path) -> None:
    store, new = made(tmp_path / "s", objects=str(tmp_path / "elsewhere"))
    with store:
        for name, nodes in new.items():
            store.add({name: nodes})
        (tmp_path / "elsewhere" / "letter.txt").write_text("mine")
        assert store.prune(keep=1).files > 0
        assert (tmp_path / "elsewhere" / "letter.txt").exists()
        assert Store.verify(tmp_path / "s").is_clean
