"""How many rows travel when a graph is in parts: ``python -m performance.partition_traffic``

A power-law graph is dealt out to P parts, by the hash of the node or in blocks of consecutive rows.
For one hop a part needs every neighbour of its nodes once; what it does not have itself it
fetches. Told are the rows fetched for each row of the graph, all parts together, and how many times
a part's own rows the part with most fetches. Nothing is computed but these numbers; they are what
``RayBlocks`` reports as ``BlockDone.fetched``, which a test holds against the rows needed.
"""

import argparse

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.seeds import Seeds
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.keys import key_hashes

PARTS = (2, 4, 8, 16, 32, 64, 128, 256, 512)


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


def main() -> None:
    """Simulate and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=15.0)
    parser.add_argument("--communities", type=int, default=1000)
    options = parser.parse_args()
    nodes = np.arange(options.nodes)
    edges = power_law(options.nodes, options.degree, options.communities)
    hashes = key_hashes(nodes)
    print(f"{options.nodes:,} nodes, {edges.num_edges:,} edges, largest degree "
          f"{edges.degrees().max():,}")  # fmt: skip
    print("parts  by hash: rows a row, busiest part   in blocks: rows a row, busiest part")
    for parts in PARTS:
        dealt = (hashes % np.uint64(parts)).astype(np.int64), nodes * parts // options.nodes
        told = []
        for part_of in dealt:
            fetched = fetched_rows(edges, part_of, parts)
            own = np.bincount(part_of, minlength=parts)
            told.append(f"{fetched.sum() / options.nodes:19.2f} {(fetched / own).max():14.2f}")
        print(f"{parts:5} {told[0]} {told[1]}")


if __name__ == "__main__":
    main()
