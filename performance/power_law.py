"""Tables of any size to build graphs from: communities, and a few nodes with very many edges.

    python -m performance.power_law --nodes 1000000 --keys text --out tables

Nodes, edges and labels are written as parts of Parquet, a piece at a time: memory stays small
whatever the size. Edges start anywhere; four of five end in the same class, at a node drawn so that
degrees follow a power law with exponent 3.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.keys import key_hashes

PART = 500_000


def write_tables(
    folder: Path,
    *,
    nodes: int,
    degree: float,
    columns: int,
    classes: int,
    keys: str,
    features: str = "float32",
) -> None:
    """Write ``nodes/``, ``edges/`` and ``labels/``."""
    seeds = Seeds(0)
    means = seeds.generator("means").standard_normal((classes, columns), dtype=np.float32)
    for place, some in enumerate(_parts(nodes)):
        draws = seeds.generator("features", str(place))
        kinds = some % classes
        rows = draws.standard_normal((some.size, columns), dtype=np.float32) + 0.5 * means[kinds]
        lists = pa.FixedSizeListArray.from_arrays(rows.astype(features).ravel(), columns)
        named = node_keys(some, keys)
        write_part(folder / "nodes", place, {"key": named, "features": lists})
        labels = pa.array([f"class {kind}" for kind in range(classes)]).take(pa.array(kinds))
        write_part(folder / "labels", place, {"key": named, "label": labels})
    for place, some in enumerate(_parts(round(nodes * degree / 2))):
        draws = seeds.generator("edges", str(place))
        source = draws.integers(nodes, size=some.size)
        kinds = np.where(
            draws.random(some.size) < 0.8, source % classes, draws.integers(classes, size=some.size)
        )
        sizes = (nodes - 1 - kinds) // classes + 1
        target = kinds + classes * (draws.random(some.size) ** 2 * sizes).astype(np.int64)
        ends = {"source": node_keys(source, keys), "target": node_keys(target, keys)}
        write_part(folder / "edges", place, ends)


def _parts(count: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, count, PART):
        yield np.arange(start, min(start + PART, count))


def node_keys(numbers: NDArray[np.int64], kind: str) -> pa.Array:
    """Keys that say nothing of the row: large integers, or texts with them."""
    integers = pa.array((key_hashes(numbers) >> np.uint64(2)).astype(np.int64))
    return integers if kind == "integer" else integers.cast(pa.string())


def write_part(folder: Path, place: int, columns: dict[str, pa.Array]) -> None:
    """One file."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    pa.parquet.write_table(table, folder / f"part-{place:05}.parquet", row_group_size=100_000)


def main() -> None:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--classes", type=int, default=40)
    parser.add_argument("--keys", choices=["integer", "text"], default="integer")
    parser.add_argument("--features", choices=["float16", "float32"], default="float32")
    parser.add_argument("--out", type=Path, required=True)
    options = vars(parser.parse_args())
    write_tables(options.pop("out"), **options)


if __name__ == "__main__":
    main()
