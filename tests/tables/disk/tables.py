"""Tables that are hard to read: kinds, weights, loops, repeats, odd keys, long texts."""

from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet

KeyType = Literal["text", "integers"]
NODES, EDGES = 300, 2500
WORDS = ["red", "hat", "shoe", "blue", "boot", "felt", "été"]


def node_keys(kind: KeyType) -> Any:
    """In no order; texts of one to forty bytes, also an empty one."""
    order = np.random.default_rng(1).permutation(NODES)
    if kind == "integers":
        return order * 7 - 100
    return np.array(["" if i == 5 else f"é{i}" * (1 + i % 11) for i in order.tolist()])


def write_tables(folder: Path, kind: KeyType, row_group: int = 100) -> tuple[Path, Path]:
    """A table of nodes and one of edges whose ends repeat, with hubs and loops."""
    draws, keys = np.random.default_rng(2), node_keys(kind)
    texts = [" ".join(draws.choice(WORDS, draws.integers(8))) for _ in range(NODES)]
    lists = draws.standard_normal((NODES, 3)).astype(np.float32)
    nodes = {
        "key": keys,
        "price": np.where(draws.random(NODES) < 0.1, np.nan, draws.random(NODES)),
        "brand": np.array(["acme", "tele", None])[draws.integers(3, size=NODES)],
        "text": texts,
        "list": pa.FixedSizeListArray.from_arrays(lists.ravel(), 3),
        "half": pa.FixedSizeListArray.from_arrays(lists.astype(np.float16).ravel(), 3),
    }
    edges = {
        "source": keys[draws.integers(NODES, size=EDGES)],
        "target": keys[(draws.random(EDGES) ** 3 * (NODES - 20)).astype(int)],
        "kind": draws.choice(["cites", "alike", "by"], EDGES),
        "times": draws.random(EDGES) + 0.1,
    }
    folder.mkdir(exist_ok=True)
    places = folder / "nodes.parquet", folder / "edges.parquet"
    for place, columns in zip(places, (nodes, edges), strict=True):
        pa.parquet.write_table(pa.table(columns), place, row_group_size=row_group)
    return places
