"""A small store behind the application, in this process."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pyarrow as pa
from starlette.testclient import TestClient

from nodegraft.service.app import application
from nodegraft.service.settings import Settings
from nodegraft.store.store import Store
from nodegraft.tables.read import read_tables

KNOWN = [1, 2, 3]
"""Keys of nodes that the small store has."""


WORDS = {"hats": "felt brim wool cap", "shoes": "sole lace heel leather"}
KEYS = [f"{name}{number}" for name in WORDS for number in range(12)]
NODES = {
    "key": KEYS,
    "text": [f"{text} item{number % 5}" for text in WORDS.values() for number in range(12)],
    "price": [float(number) for number in range(24)],
}
EDGES = {"source": KEYS[:-1], "target": KEYS[1:]}


def make_of_tables(place: Path) -> None:
    """A store that can grow, whose keys are text."""
    graph = read_tables(pa.table(NODES), pa.table(EDGES), text="text", features="price").graph
    labels = {name: [f"{name}{number}" for number in range(5)] for name in WORDS}
    Store.init(place, graph, labels).close()


@contextmanager
def asked(place: Path, **options: Any) -> Iterator[TestClient]:
    """Who asks a service of a store."""
    settings = Settings(place, **{"rate": 0.0, "failed_tokens": 0.0, **options})
    with TestClient(application(settings), base_url="http://localhost") as client:
        yield client


def written(place: Path, number: int = 2) -> bool:
    """Whether the model card of a version is written within a minute."""
    path, end = place / "cards" / f"version-{number}.md", monotonic() + 60.0
    while not path.exists() and monotonic() < end:
        sleep(0.05)
    return path.exists()


def lesson(new: dict[str, list[Any]], place: int = 0) -> dict[str, Any]:
    """One of the new classes, as a request."""
    name = sorted(new)[place]
    return {"classes": {name: new[name]}}
