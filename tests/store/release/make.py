"""Make a store of this release, to be opened by all later ones.

    python -m tests.store.release.make        # writes store-VERSION.tar.gz and store-VERSION.json

Run it once, when a release is tagged, and commit both files: no later release makes them again.
``test_release.py`` opens every such store with today's code.
"""

import json
import tarfile
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa

import nodegraft as ng
from nodegraft.store.access import StoreTokens
from nodegraft.store.intent import Intent
from nodegraft.store.scope import Scope

FOLDER = Path(__file__).parent

WORDS = {
    "bikes": "wheel pedal chain saddle gear",
    "lamps": "bulb shade cord switch lumen",
    "pots": "lid cast iron glaze clay",
    "rugs": "pile weave fringe jute knot",
}
FIRST, LAST = 24, 30
"""Items of each class in the first version, and after the store has grown."""

MIXED = " ".join(WORDS.values()).split()
"""Words of all classes: two of three in a text are drawn from these, so that confidence varies."""


def keys(name: str, start: int, stop: int) -> list[str]:
    """Return keys of items of a class."""
    return [f"{name}-{number}" for number in range(start, stop)]


def items(start: int, stop: int) -> tuple[pa.Table, pa.Table]:
    """Return tables of some items of each class, and of edges of two types between them."""
    draws = np.random.default_rng(start)
    nodes = [
        {
            "key": key,
            "text": " ".join([draws.choice(words.split()), *draws.choice(MIXED, 2)]),
            "brand": draws.choice(["A", "B"]),
        }
        for name, words in WORDS.items()
        for key in keys(name, start, stop)
    ]
    edges = [
        {"source": source, "target": target, "kind": kind}
        for kind in ("bought with", "seen with")
        for name in WORDS
        for source, target in draws.choice(keys(name, start, stop), (2 * (stop - start), 2))
    ]
    return pa.Table.from_pylist(nodes), pa.Table.from_pylist(edges)


def make_store(place: Path) -> None:
    """Make a store with every kind of version: added, labelled, grown, renamed, undone."""
    intent = Intent(author="release", note="made for later releases")
    tables = ng.read_tables(*items(0, FIRST), text="text", categories="brand", edge_type="kind")
    labels = {name: keys(name, 0, 12) for name in list(WORDS)[1:]}
    with ng.Store.init(
        place, tables.graph, labels, texts=tables.texts, tables={"edge_type": "kind"}, intent=intent
    ) as store:
        store.add({"bikes": keys("bikes", 0, 5)}, intent=intent)
        store.label({"bikes": keys("bikes", 5, 8)}, intent=intent)
        store.promote(3, intent=intent)
        store.grow(*items(FIRST, LAST), intent=intent)
        store.rename("pots", "pans", intent=intent)
        store.undo(5, intent=intent)
        store.promote(intent=intent)
    with StoreTokens.open(place) as tokens:
        tokens.add("later", Scope.READ, author="release")


def summarise(store: ng.Store) -> dict[str, Any]:
    """Return what later releases must read from the store: its history and predictions."""
    nodes = [f"{name}-{number}" for name in WORDS for number in (11, FIRST - 1, LAST - 1)]
    predictions = store.predict(nodes, ignore_labels=True)
    return {
        "live": store.live,
        "history": [[row.number, row.action, row.by, row.note] for row in store.history()],
        "classes": store.state().model.classes_,
        "predictions": dict(zip(nodes, predictions.predictions, strict=True)),
        "confidence": predictions.confidence.tolist(),
    }


def main() -> None:
    """Make both files."""
    name = f"store-{version('nodegraft')}"
    with TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        make_store(place)
        with ng.Store.open(place) as store:
            expected = summarise(store)
        with tarfile.open(FOLDER / f"{name}.tar.gz", "w:gz") as archive:
            archive.add(place, "store")
    (FOLDER / f"{name}.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
