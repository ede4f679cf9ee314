"""How many rows travel when a graph is in parts.

    python -m performance.partition_traffic            # simulated, 2 to 512 parts

A power-law graph is dealt out to P parts, by the hash of the node or in blocks of consecutive rows.
For one hop a part needs every neighbour of its nodes once; what it does not have itself it
fetches. Told are the rows fetched for each row of the graph, all parts together, and how many times
a part's own rows the part with most fetches.
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
    """Four of five edges stay among consecutive rows of a community; some nodes are hubs."""
    draws = Seeds(0).generator("edges")
    source = draws.integers(nodes, size=round(nodes * degree / 2))
    size = -(-nodes // communities)
    place = draws.random(source.size) ** 2
    near = np.minimum(source // size * size + (place * size).astype(np.int64), nodes - 1)
    far = (place * nodes).astype(np.int64)
    target = np.where(draws.random(source.size) < 0.8, near, far)
    return Adjacency.from_edges(source, target, nodes)


def fetched_rows(edges: Adjacency, part_of: NDArray[np.int64], parts: int) -> NDArray[np.int64]:
    """For each part, the nodes of others that its nodes are joined to, each once.

    >>> path = Adjacency.from_edges(np.array([0, 1, 2]), np.array([1, 2, 3]), 4)
    >>> fetched_rows(path, np.array([0, 0, 1, 1]), 2).tolist()
    [1, 1]
    """
    entries = edges.entries()
    asking, holding = part_of[entries.rows], part_of[entries.columns]
    away = asking != holding
    pairs = np.unique(asking[away] * edges.num_nodes + entries.columns[away])
    return np.bincount(pairs // edges.num_nodes, minlength=parts)


def simulated(edges: Adjacency, parts: int) -> list[str]:
    """By hash and in blocks: rows fetched for each row, and the busiest part's for its own rows."""
    nodes = np.arange(edges.num_nodes)
    hashed = (key_hashes(nodes) % np.uint64(parts)).astype(np.int64)
    told = []
    for part_of in (hashed, nodes * parts // nodes.size):
        fetched = fetched_rows(edges, part_of, parts)
        own = np.bincount(part_of, minlength=parts)
        told += [f"{fetched.sum() / nodes.size:.4f}", f"{(fetched / own).max():.2f}"]
    return told


def main() -> None:
    """Simulate, count, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=15.0)
    parser.add_argument("--communities", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="a Markdown file for the table")
    options = parser.parse_args()
    edges = power_law(options.nodes, options.degree, options.communities)
    rows = [[str(parts), *simulated(edges, parts)] for parts in PARTS]
    size = f"{options.nodes:,} nodes, {edges.num_edges:,} edges"
    table = Table.of(HEAD, rows, f"**Rows fetched for each row, {size}**").markdown()
    print(table)
    if options.out:
        written = "<!-- Written by performance/partition_traffic.py. -->"
        options.out.write_text(f"{written}\n\n{table}\n")


if __name__ == "__main__":
    main()
