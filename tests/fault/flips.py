"""Stores with one flipped bit each: what verification says, and what becomes of their use."""

import json
import os
import shutil
import sqlite3
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from nodegraft.base.errors import NodegraftError
from nodegraft.base.files import array_file
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from tests.fault.test_store_kills import forked
from tests.store.on_disk import joined, labels_of, made, rows

SIDECAR = ".hash"


def lived_in(folder: Path, mapped: bool) -> Path:
    """A store with all kinds of files: two graphs, derived data, a model card."""
    store = made(folder, mapped=mapped)
    with store:
        store.grow(rows(range(600, 606)), joined([(600, 0), (601, 1), (605, 5)]))
        store.add(labels_of(4), intent=Intent(override="a test"))
        store.promote()
        store.predict()
        store.write_card()
    return store.place


@dataclass(frozen=True)
class Flip:
    """One bit of one file."""

    file: str
    place: int
    bit: int

    def apply(self, store: Path) -> None:
        path = store / self.file
        content = bytearray(path.read_bytes())
        content[self.place] ^= 1 << self.bit
        path.chmod(0o644)
        path.write_bytes(content)


def drawn_flips(store: Path, count: int, seed: int) -> Iterator[Flip]:
    """Every file once, and then files at random."""
    draws = np.random.default_rng(seed)
    files = sorted(path for path in store.rglob("*") if path.is_file() and path.stat().st_size)
    order = [*draws.permutation(len(files)), *draws.integers(len(files), size=count)]
    for number in order[:count]:
        path = files[number]
        place, bit = int(draws.integers(path.stat().st_size)), int(draws.integers(8))
        yield Flip(str(path.relative_to(store)), place, bit)


def use(store: Path) -> list[Any]:
    """Open, predict, explain, search, teach and grow: what each gave, or how it was refused."""
    return [_tried(step, store) for step in (_predict, _explain, _search, _add, _grow)]


def _tried(step: Callable[[Store], Any], place: Path) -> Any:
    try:
        with Store.open(place) as store:
            return step(store)
    except NodegraftError as error:
        return {"refused": str(error)}
    except Exception:
        return {"traceback": traceback.format_exc()}


def _predict(store: Store) -> Any:
    said = store.predict(top=2)
    return [str(said.classes), said.probabilities.tobytes().hex()]


def _explain(store: Store) -> Any:
    return str(store.explain("p7"))


def _search(store: Store) -> Any:
    return store.search("p1", limit=500)


def _add(store: Store) -> Any:
    store.add(labels_of(5), intent=Intent(override="a test"))
    return str(store.predict(["p5", "p11"], version=store.newest).classes)


def _grow(store: Store) -> Any:
    store.grow(rows(range(700, 703)), joined([(700, 0), (701, 1), (702, 2)]))
    return str(store.predict(["p700"], version=store.newest).classes)


def named(store: Path) -> list[str]:
    """The files that a verification names, relative to the store."""
    try:
        found = [one.file for one in Store.verify(store).findings]
    except NodegraftError as error:
        # Not even its settings can be read.
        found = [path for path in map(str, store.iterdir()) if path in str(error)]
    return [str(Path(file).relative_to(store)) for file in found]


def tried(store: Path, flip: Flip | None, folder: Path, checked: bool) -> tuple[int, Any]:
    """Verify and use copies of a store in a process of its own: how it ended, what came of it.

    Args:
        store: The store.
        flip: What to damage; None for nothing.
        folder: Where copies are made.
        checked: Whether arrays are compared with their hashes when they are mapped.
    """
    used, verified, said = folder / "used", folder / "verified", folder / "said.json"
    for copy in (used, verified):
        shutil.copytree(store, copy)
        if flip is not None:
            flip.apply(copy)

    def work() -> None:
        if not checked:
            array_file.CHECKED_BYTES = -1
        said.write_text(json.dumps({"named": named(verified), "used": use(used)}))

    status = os.waitstatus_to_exitcode(os.waitpid(forked(work), 0)[1])
    found = json.loads(said.read_text()) if said.exists() else None
    shutil.rmtree(folder)
    return status, found


def rows_in(database: Path) -> Any:
    """All that an SQLite file says; None where it cannot be read."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            whole = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            return list(connection.iterdump()) if whole else None
    except (sqlite3.Error, UnicodeDecodeError):
        return None


def changes_no_row(store: Path, flip: Flip, folder: Path) -> bool:
    """Whether a flip is in space that SQLite does not use: every row and table is the same."""
    if flip.file != "store.db":
        return False
    before, after = folder / "before.db", folder / "store.db"
    folder.mkdir()
    for copy in (before, after):
        shutil.copy(store / "store.db", copy)
    flip.apply(folder)
    same: bool = rows_in(before) == rows_in(after)
    shutil.rmtree(folder)
    return same
