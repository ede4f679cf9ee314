"""Rows that parts of a partitioned graph fetch from each other for one hop.

    python -m performance.partition_traffic            # simulated, 2 to 512 parts

A power-law graph is partitioned by the hash of the node, or into blocks of consecutive rows. For
one hop a part fetches every neighbour of its nodes that is in another part, once. The table has the
rows that all parts fetch, divided by the rows of the graph, and the largest ratio of a part's
fetched rows to its own.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.keys import key_hashes

PARTS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
HEAD = [
    "parts",
    "by hash",
    "busiest part",
    "in blocks",
    "busiest block",
]


def power_law(nodes: int, degree: float, communities: int) -> Adjacency:
    """Draw edges of which four of five stay in a community of consecutive rows; with hubs."""
    draws = Seeds(0).generator("edges")
    source = draws.integers(nodes, size=round(nodes * degree / 2))
    size = -(-nodes // communities)
    place = draws.random(source.size) ** 2
    near = np.minimum(source // size * size + (place * size).astype(np.int64), nodes - 1)
    far = (place * nodes).astype(np.int64)
    target = np.where(draws.random(source.size) < 0.8, near, far)
    return Adjacency.from_edges(source, target, nodes)


def fetched_rows(edges: Adjacency, part_of: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """Count for each part the neighbours of its nodes that other parts hold.

    >>> path = Adjacency.from_edges(np.array([0, 1, 2]), np.array([1, 2, 3]), 4)
    >>> fetched_rows(path, np.array([0, 0, 1, 1]), 2).tolist()
    [1, 1]
    """
    entries = edges.entries()
    reader, owner = part_of[entries.rows], part_of[entries.columns]
    remote = reader != owner
    pairs = np.unique(reader[remote] * edges.num_nodes + entries.columns[remote])
    return np.bincount(pairs // edges.num_nodes, minlength=parts)


def simulate(edges: Adjacency, parts: int) -> list[str]:
    """Return the cells of a row: both ratios by hash, then both in blocks."""
    nodes = np.arange(edges.num_nodes)
    hashed = (key_hashes(nodes) % np.uint64(parts)).astype(np.int64)
    cells = []
    for part_of in (hashed, nodes * parts // nodes.size):
        fetched = fetched_rows(edges, part_of, parts)
        # A part without nodes fetches nothing.
        own = np.maximum(np.bincount(part_of, minlength=parts), 1)
        cells += [f"{fetched.sum() / nodes.size:.4f}", f"{(fetched / own).max():.2f}"]
    return cells


def main() -> None:
    """Print the table, and write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=15.0)
    parser.add_argument("--communities", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="Markdown file for the table")
    options = parser.parse_args()
    edges = power_law(options.nodes, options.degree, options.communities)
    rows = [[str(parts), *simulate(edges, parts)] for parts in PARTS]
    size = f"{options.nodes:,} nodes, {edges.num_edges:,} edges"
    table = Table.of(HEAD, rows, f"**Rows fetched for each row, {size}**").markdown()
    print(table)
    if options.out:
        comment = "<!-- Written by performance/partition_traffic.py. -->"
        options.out.write_text(f"{comment}\n\n{table}\n")


if __name__ == "__main__":
    main()
