"""Tables of any size to build graphs from, with classes that are communities, and hubs.

    python -m performance.power_law --nodes 1000000 --keys text --out tables

Nodes, edges and labels are drawn and written in parts (Parquet), so that memory does not grow with
the size. The source node of an edge is random; for four of five edges the target node has the same
class, and degrees follow a power law with exponent 3.
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

ROWS_OF_A_PART = 500_000


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
    """Write the folders ``nodes/``, ``edges/`` and ``labels/``."""
    seeds = Seeds(0)
    means = seeds.generator("means").standard_normal((classes, columns), dtype=np.float32)
    for part, numbers in enumerate(_parts(nodes)):
        draws = seeds.generator("features", str(part))
        class_of, size = numbers % classes, numbers.size
        rows = draws.standard_normal((size, columns), dtype=np.float32) + 0.5 * means[class_of]
        lists = pa.FixedSizeListArray.from_arrays(rows.astype(features).ravel(), columns)
        key_column = node_keys(numbers, keys)
        write_part(folder / "nodes", part, {"key": key_column, "features": lists})
        labels = pa.array([f"class {k}" for k in range(classes)]).take(pa.array(class_of))
        write_part(folder / "labels", part, {"key": key_column, "label": labels})
    for part, numbers in enumerate(_parts(round(nodes * degree / 2))):
        draws, size = seeds.generator("edges", str(part)), numbers.size
        source = draws.integers(nodes, size=size)
        is_inside = draws.random(size) < 0.8
        class_of = np.where(is_inside, source % classes, draws.integers(classes, size=size))
        class_sizes = (nodes - 1 - class_of) // classes + 1
        target = class_of + classes * (draws.random(size) ** 2 * class_sizes).astype(np.int64)
        ends = {"source": node_keys(source, keys), "target": node_keys(target, keys)}
        write_part(folder / "edges", part, ends)


def _parts(count: int) -> Iterator[NDArray[np.int64]]:
    for start in range(0, count, ROWS_OF_A_PART):
        yield np.arange(start, min(start + ROWS_OF_A_PART, count))


def node_keys(numbers: NDArray[np.int64], kind: str) -> pa.Array:
    """Return keys that do not depend on the order of rows: large integers, or these as text."""
    integers = pa.array((key_hashes(numbers) >> np.uint64(2)).astype(np.int64))
    return integers if kind == "integer" else integers.cast(pa.string())


def write_part(folder: Path, part: int, columns: dict[str, pa.Array]) -> None:
    """Write a part of a table."""
    folder.mkdir(parents=True, exist_ok=True)
    table = pa.table(columns)
    pa.parquet.write_table(table, folder / f"part-{part:05}.parquet", row_group_size=100_000)


def main() -> None:
    """Write the tables that the command line describes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument("--classes", type=int, default=40)
    parser.add_argument("--keys", choices=["integer", "text"], default="integer")
    parser.add_argument("--features", choices=["float16", "float32"], default="float32")
    parser.add_argument("--out", type=Path, required=True, help="folder for the tables")
    options = vars(parser.parse_args())
    write_tables(options.pop("out"), **options)


if __name__ == "__main__":
    main()
