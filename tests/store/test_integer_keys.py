"""A store with integer keys refuses keys such as 007."""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from nodegraft.base.errors import DataError
from nodegraft.graph.keys import integer_key
from nodegraft.store.store import Store
from nodegraft.tables.labels import read_labels
from nodegraft.tables.read import read_graph


def test_a_table_with_leading_zeros_is_refused_with_what_to_do(tmp_path: Path) -> None:
    nodes = pa.table({"key": range(1, 9), "x": [1.0, 2.0] * 4, "y": [2.0, 1.0] * 4})
    edges = pa.table({"source": [1, 2, 3], "target": [2, 3, 4]})
    graph = read_graph(nodes, edges, features=["x", "y"])
    labels = {"a": [1, 3], "b": [2, 4]}
    store = Store.init(tmp_path / "s", graph, labels, method="sgc-mean")
    table, taught = tmp_path / "nodes.csv", tmp_path / "labels.csv"
    table.write_text("key,x,y\n007,1,2\n")
    taught.write_text("key,label\n007,a\n")
    attempts: list[Callable[[], object]] = [
        lambda: store.grow(table),
        lambda: store.sync(table),
        lambda: read_labels(taught, graph),
        lambda: integer_key("007"),
    ]
    for attempt in attempts:
        with pytest.raises(DataError, match=r"'007'.* leading zeros"):
            attempt()
