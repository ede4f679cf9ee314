"""A small store, and what to teach it."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from nodegraft.base.files.bundle import Arrays, Document
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.store.versions import migration

Small = tuple[Store, dict[str, list[Key]]]
"""A store, and what to teach it."""

LATER = 2
"""So many classes are not in the first version."""

LATER_REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "0101", "0100"

def upgrade():
    op.add_column("audit", sa.Column("later", sa.Text))
    op.execute("UPDATE audit SET later = 'later'")
"""


def add_later_revision(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Let this nodegraft need tables of a revision after that of the stores which exist."""
    shutil.copytree(migration._SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "0101_later.py").write_text(LATER_REVISION)
    patch.setattr(migration, "_SCRIPTS", folder)


def drawn(classes: int = 6, nodes: int = 240) -> tuple[Graph, dict[str, list[Key]]]:
    """A graph whose classes are easily told apart, and all labels of it."""
    graph, labels = BlockModel(nodes=nodes, classes=classes, features=16, signal=2.0).draw()
    return graph, {name: graph.keys_of(rows) for name, rows in labels.items()}


def made(place: Path, **options: Any) -> tuple[Store, dict[str, list[Key]]]:
    """A store that knows all but the last classes, and five nodes of each of those."""
    graph, labels = drawn()
    names = sorted(labels)
    known = {name: labels[name][:20] for name in names[:-LATER]}
    store = Store.init(
        place, graph, known, intent=Intent(author="tests"), **{"method": "sgc-mean", **options}
    )
    return store, {name: labels[name][:5] for name in names[-LATER:]}


def with_unreadable_model(store: Store, **parameters: object) -> Store:
    """The same store, whose newest version has a model that lacks an array."""
    version = store.version()
    arrays, document = store.parts.objects.get(version.model)
    del arrays["state.confidence_"], document["state"]["confidence_"]
    document["parameters"] |= parameters
    return with_model(store, arrays, document)


def with_model(store: Store, arrays: Arrays, document: Document) -> Store:
    """The same store, whose newest version has another model."""
    version = store.version()
    model = store.parts.objects.put(arrays, document)
    store.close()
    with closing(sqlite3.connect(store.place / "store.db")) as database, database:
        told = (model, version.number)
        database.execute("UPDATE versions SET model = ? WHERE number = ?", told)
    return Store.open(store.place)
