"""Tables of a small shop, and stores of them whose graph lies on disk or in memory."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from nodegraft.graph.keys import Key
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.read import read_graph
from nodegraft.tables.storage import load_graph

CLASSES, EACH = 6, 100
NAMES = [f"class {number}" for number in range(CLASSES)]
FORMS: dict[str, dict[str, Any]] = {
    "words": {"text": "words"},
    "lists of kinds": {"features": "half", "edge_type": "kind", "edge_weight": "times"},
}
"""How the tables are read: sparse features and plain edges, dense ones and edges of two kinds."""


def _columns(form: str) -> tuple[dict[str, Any], dict[str, Any]]:
    options = FORMS[form]
    edges = {name: value for name, value in options.items() if name.startswith("edge")}
    return options, {"key": "id", **edges}


def rows(numbers: Any) -> pa.Table:
    """Nodes; number ``i`` is of class ``i % CLASSES``."""
    draws = np.random.default_rng(list(numbers))
    words = [
        " ".join(
            "abcdef"[number % CLASSES] * 3 + "stuvwxyz"[word] for word in draws.integers(8, size=6)
        )
        for number in numbers
    ]
    means = np.eye(CLASSES)[np.array(numbers) % CLASSES] * 2
    lists = (means + draws.normal(size=means.shape)).astype(np.float16)
    return pa.table(
        {
            "id": [f"p{number}" for number in numbers],
            "words": words,
            "half": pa.FixedSizeListArray.from_arrays(lists.ravel(), CLASSES),
        }
    )


def joined(ends: list[tuple[int, int]]) -> pa.Table:
    """Edges between nodes."""
    return pa.table(
        {
            "source": [f"p{one}" for one, _ in ends],
            "target": [f"p{other}" for _, other in ends],
            "kind": [("seen", "bought")[(one + other) % 2] for one, other in ends],
            "times": [1.0 + (one % 3) for one, _ in ends],
        }
    )


def write_tables(folder: Path) -> tuple[Path, Path]:
    """A table of nodes and one of edges."""
    draws, nodes = np.random.default_rng(1), CLASSES * EACH
    ends = [
        (one, (one + CLASSES * int(draws.integers(1, EACH))) % nodes)
        for one in draws.integers(nodes, size=4 * nodes).tolist()
    ]
    ends += draws.integers(nodes, size=(nodes, 2)).tolist()
    folder.mkdir(exist_ok=True)
    places = folder / "nodes.parquet", folder / "edges.parquet"
    for place, table in zip(places, (rows(range(nodes)), joined(ends)), strict=True):
        pa.parquet.write_table(table, place)
    return places


def labels_of(*classes: int, count: int = 15) -> dict[str, list[Key]]:
    """The first nodes of some classes."""
    return {NAMES[one]: [f"p{one + CLASSES * place}" for place in range(count)] for one in classes}


def made(folder: Path, form: str = "words", *, mapped: bool = True, **options: Any) -> Store:
    """A store that knows four classes of six."""
    columns, tables = _columns(form)
    nodes, edges = write_tables(folder)
    if mapped:
        graph = build_graph(nodes, edges, folder / "graph", key="id", **columns).graph
        graph = load_graph(folder / "graph")
    else:
        graph = read_graph(nodes, edges, key="id", **columns)
    place = folder / ("mapped" if mapped else "memory")
    return Store.init(
        place, graph, labels_of(0, 1, 2, 3), tables=tables, intent=Intent(author="tests"), **options
    )
