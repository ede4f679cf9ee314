"""A small store, and what to teach it."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.store.objects import Arrays, Document
from nodegraft.store.store import Store

LATER = 2
"""So many classes are not in the first version."""

REVISION_1 = (
    "DROP TABLE audit",
    "DROP TABLE tokens",
    "DROP TABLE settings",
    "DROP INDEX versions_request",
    "ALTER TABLE versions DROP COLUMN texts",
    "UPDATE alembic_version SET version_num = '0001'",
)
"""What makes of a database the one that the first nodegraft made."""


def drawn(classes: int = 6, nodes: int = 240) -> tuple[Graph, dict[str, list[Key]]]:
    """A graph whose classes are easily told apart, and all labels of it."""
    graph, labels = BlockModel(nodes=nodes, classes=classes, features=16, signal=2.0).draw()
    return graph, {name: graph.keys_of(rows) for name, rows in labels.items()}


def made(place: Path, **options: Any) -> tuple[Store, dict[str, list[Key]]]:
    """A store that knows all but the last classes, and five nodes of each of those."""
    graph, labels = drawn()
    names = sorted(labels)
    known = {name: labels[name][:20] for name in names[:-LATER]}
    store = Store.init(place, graph, known, by="tests", **{"method": "sgc-mean", **options})
    return store, {name: labels[name][:5] for name in names[-LATER:]}


def of_an_older_nodegraft(store: Store, **parameters: object) -> Store:
    """The same store, whose newest version has a model that lacks what one of today has."""
    version = store.version()
    arrays, document = store._objects.get(version.model)
    del arrays["state.confidence_"], document["state"]["confidence_"]
    document["parameters"] |= parameters
    return with_model(store, arrays, document)


def with_model(store: Store, arrays: Arrays, document: Document) -> Store:
    """The same store, whose newest version has another model."""
    version = store.version()
    older = store._objects.put(arrays, document)
    store.close()
    with closing(sqlite3.connect(store.place / "store.db")) as database, database:
        told = (older, version.number)
        database.execute("UPDATE versions SET model = ? WHERE number = ?", told)
    return Store.open(store.place)
