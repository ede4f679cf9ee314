"""The whole product SX against the bare CSR kernel with S ready in memory, in one run.

    python -m performance.propagation                      # 10^6 nodes, degree 15, 64 columns
    python -m performance.propagation --nodes 100000 --ray

``memory``: in blocks, graph and result in memory. ``mapped``: the same, all of it in files that
the page cache holds. ``kept``: as ``nodegraft propagate`` does it, every block written, flushed to
the disk and put into the journal. ``processes``, ``ray``: the same by two of them, start-up not
counted. Rounds take turns, so that a noisy neighbour on the machine hits all.
"""

import argparse
import shutil
import statistics
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import count, pairwise
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from numpy.lib.format import open_memmap
from performance.anonymous_peak import AnonymousPeak

from nodegraft.base.seeds import Seeds
from nodegraft.graph.algebra.adjacency import Adjacency
from nodegraft.graph.algebra.operator import Operator
from nodegraft.graph.algebra.propagation import PropagatedFeatures
from nodegraft.graph.algebra.row_blocks import block_bounds, spread_rows
from nodegraft.graph.blocks.executor import BlockExecutor
from nodegraft.graph.blocks.propagate import propagate
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.runners.block_processes import BlockProcesses

ARRAYS = ("indptr", "indices", "features")


def write_graph(folder: Path, nodes: int, degree: int, columns: int) -> None:
    """Random edges; targets follow a power law, so that there are hubs."""
    draws = Seeds(0).generator("graph")
    source = draws.integers(nodes, size=nodes * degree // 2)
    target = (draws.random(source.size) ** 2 * nodes).astype(np.int64)
    edges = Adjacency.from_edges(source, target, nodes)
    features = draws.standard_normal((nodes, columns), dtype=np.float32)
    for name, array in zip(ARRAYS, (edges.indptr, edges.indices, features), strict=True):
        np.save(folder / f"{name}.npy", array)


def mapped_graph(folder: Path) -> Graph:
    """The graph in a folder, none of it in memory."""
    indptr, indices, features = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS)
    keys = NodeKeys(np.arange(len(features)))
    return Graph.from_parts(keys, features, Adjacency(indptr, indices))


def in_mapped_files(graph: Graph, place: Path) -> None:
    """Every block from mapped arrays into a mapped file; nothing waits for the disk."""
    edges, features = graph._adjacency, graph._store.feature_matrix
    result = open_memmap(place, "w+", np.float32, shape=features.shape)
    roots = edges.inverse_roots()
    for start, stop in pairwise(block_bounds(edges, features)):
        result[start:stop] = spread_rows(edges, roots, features, start, stop)


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    start = perf_counter()
    work()
    return perf_counter() - start


def peak_of_a_process(folder: Path) -> int:
    """Of one that maps the graph and keeps two layers."""
    torch.set_num_threads(1)
    graph = mapped_graph(folder)
    with AnonymousPeak() as memory:
        propagate(graph, 2, folder=folder / "watched")
    return memory.bytes


def measure(options: argparse.Namespace, folder: Path, stack: ExitStack) -> None:
    """All variants, round by round."""
    graph, places = mapped_graph(folder), (folder / f"round-{number}" for number in count())
    edges = Adjacency(np.array(graph._adjacency.indptr), np.array(graph._adjacency.indices))
    features = np.array(graph._store.feature_matrix)
    ready, dense = Operator(edges.normalised).forward_matrix, torch.from_numpy(features)

    def kept(executor: BlockExecutor | None) -> Callable[[], object]:
        return lambda: propagate(graph, 1, executor, folder=next(places))

    variants: dict[str, Callable[[], object]] = {
        "bare kernel": lambda: ready @ dense,
        "memory": lambda: PropagatedFeatures(edges, features, 2)._spread(features),
        "mapped": lambda: in_mapped_files(graph, next(places)),
        "kept": kept(None),
        "processes": kept(stack.enter_context(BlockProcesses(2))),
    }
    if options.ray:
        from nodegraft.runners.ray_blocks import RayBlocks

        variants["ray"] = kept(stack.enter_context(RayBlocks("local", cpus=2)))
    # The first round warms caches, starts workers and finds the graph's fingerprint.
    rounds = []
    for _ in range(options.rounds + 1):
        rounds.append({name: seconds(run) for name, run in variants.items()})
        for place in folder.glob("round-*"):
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    for name in variants:
        times = [one[name] for one in rounds[1:]]
        ratios = [one[name] / one["bare kernel"] for one in rounds[1:]]
        print(f"{name:12} median {statistics.median(times):7.2f} s, "
              f"{statistics.median(ratios):5.2f} times the bare kernel")  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=15)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ray", action="store_true", help="also as Ray tasks")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        write_graph(folder, options.nodes, options.degree, options.columns)
        print(f"{options.nodes:,} nodes, degree {options.degree}, {options.columns} columns")
        measure(options, folder, stack)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            peak = process.submit(peak_of_a_process, folder).result()
        layer = 4 * options.nodes * options.columns
        print(f"anonymous memory of one process: {peak / 1e6:,.0f} MB; a layer has "
              f"{layer / 1e6:,.0f} MB")  # fmt: skip


if __name__ == "__main__":
    main()
