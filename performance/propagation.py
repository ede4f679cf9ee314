"""Time of one hop of feature propagation (SX) against the bare CSR kernel with S in memory.

    python -m performance.propagation                      # 10^6 nodes, degree 15, 64 columns
    python -m performance.propagation --nodes 100000 --communities 1 100 --ray

``memory``: in blocks, with graph and result in memory. ``mapped``: the same with graph and result
in memory-mapped files in the page cache. ``stored``: as in ``nodegraft propagate``, with every
block written, flushed to the disk and recorded in the journal. ``processes``, ``ray``: the same
with two worker processes, without their start-up; the speed-up is relative to ``stored``. Variants
alternate, so that other load on the machine slows down all; CPU seconds are the sum over all
processes.
"""

import argparse
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from itertools import count, pairwise
from multiprocessing import get_context
from os import cpu_count, getloadavg, getpid
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import NamedTuple

import numpy as np
import torch
from numpy.lib.format import open_memmap
from performance.anonymous_peak import AnonymousPeak
from performance.partition_traffic import power_law
from performance.process_tree import cpu_seconds

from nodegraft.analysis.rendering.table import Table
from nodegraft.base.seeds import Seeds
from nodegraft.graph.disk.blocks.encode import propagate
from nodegraft.graph.disk.blocks.layer_work import BlockExecutor
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.operator import Operator
from nodegraft.graph.edges.row_blocks import block_bounds, spread_rows
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.graph.propagation.propagation import PropagatedFeatures
from nodegraft.runners.block_processes import BlockProcesses

ARRAYS = ("indptr", "indices", "features")
PARALLEL = ("processes", "ray")
"""Variants with two worker processes."""

HEAD = ["", "wall-clock seconds", "CPU seconds", "times the bare kernel", "speed-up"]


class Seconds(NamedTuple):
    """Wall-clock and CPU seconds of a call."""

    clock: float
    cpu: float


def write_graph(folder: Path, options: argparse.Namespace, communities: int) -> None:
    """Write a graph with power-law degrees; with one community, edges end anywhere."""
    nodes, draws = options.nodes, Seeds(0).generator("features")
    edges = power_law(nodes, options.degree, communities)
    features = draws.standard_normal((nodes, options.columns), dtype=np.float32)
    for name, array in zip(ARRAYS, (edges.indptr, edges.indices, features), strict=True):
        np.save(folder / f"{name}.npy", array)


def mapped_graph(folder: Path) -> Graph:
    """Open the graph of a folder with all arrays memory-mapped."""
    indptr, indices, features = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS)
    keys = NodeKeys(np.arange(len(features)))
    return Graph.from_parts(keys, features, Adjacency(indptr, indices))


def propagate_mapped(graph: Graph, path: Path) -> None:
    """Propagate in blocks from mapped arrays into a mapped file, without flushing it."""
    edges, features = graph._adjacency, graph._store.feature_matrix
    result = open_memmap(path, "w+", np.float32, shape=features.shape)
    roots = edges.inverse_roots()
    for start, stop in pairwise(block_bounds(edges, features)):
        result[start:stop] = spread_rows(edges, roots, features, start, stop)


def seconds(work: Callable[[], object]) -> Seconds:
    """Measure a call."""
    start, used = perf_counter(), cpu_seconds(getpid())
    work()
    return Seconds(perf_counter() - start, cpu_seconds(getpid()) - used)


def peak_anonymous_bytes(folder: Path) -> int:
    """Return the peak of anonymous memory while this process maps a graph and stores two layers."""
    torch.set_num_threads(1)
    graph = mapped_graph(folder)
    with AnonymousPeak() as memory:
        propagate(graph, 2, folder=folder / "two-layers")
    return memory.bytes


def measure(options: argparse.Namespace, folder: Path, stack: ExitStack) -> Table:
    """Measure all variants, round by round."""
    graph, paths = mapped_graph(folder), (folder / f"round-{number}" for number in count())
    edges = Adjacency(np.array(graph._adjacency.indptr), np.array(graph._adjacency.indices))
    features = np.array(graph._store.feature_matrix)
    ready, dense = Operator(edges.normalised).forward_matrix, torch.from_numpy(features)

    def stored(executor: BlockExecutor | None) -> Callable[[], object]:
        return lambda: propagate(graph, 1, executor, folder=next(paths))

    variants: dict[str, Callable[[], object]] = {
        "bare kernel": lambda: ready @ dense,
        "memory": lambda: PropagatedFeatures(edges, features, 2)._spread(features),
        "mapped": lambda: propagate_mapped(graph, next(paths)),
        "stored": stored(None),
        "processes": stored(stack.enter_context(BlockProcesses(2))),
    }
    if options.ray:
        from nodegraft.runners.ray_connection import RayBlocks

        variants["ray"] = stored(stack.enter_context(RayBlocks("local", cpus=2)))
    # The first round is not counted: it fills caches, starts workers and hashes the graph.
    rounds = []
    for _ in range(options.rounds + 1):
        rounds.append({name: seconds(run) for name, run in variants.items()})
        for path in folder.glob("round-*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return Table.of(HEAD, [[name, *cells(rounds[1:], name)] for name in variants])


def cells(rounds: Sequence[Mapping[str, Seconds]], name: str) -> list[str]:
    """Format the medians of a variant; ratios compare calls of the same round."""
    values = (
        median(times[name].clock for times in rounds),
        median(times[name].cpu for times in rounds),
        median(times[name].clock / times["bare kernel"].clock for times in rounds),
    )
    speed_up = median(times["stored"].clock / times[name].clock for times in rounds)
    return [*(f"{value:.2f}" for value in values), f"{speed_up:.2f}" if name in PARALLEL else ""]


def main() -> None:
    """Print a table for each number of communities, and write them to a file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=15)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--communities", type=int, nargs="+", default=(1,))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ray", action="store_true", help="also measure Ray tasks")
    parser.add_argument("--out", type=Path, help="Markdown file for the tables")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tables = [measure_graph(options, communities) for communities in options.communities]
    if options.out:
        comment = "<!-- Written by performance/propagation.py. -->"
        options.out.write_text("\n\n".join([comment, *tables]) + "\n")


def measure_graph(options: argparse.Namespace, communities: int) -> str:
    """Measure one graph, print the result and return the table."""
    load = f"load {getloadavg()[0]:.1f} on {cpu_count()} cores"
    ends = f"{communities:,} communities" if communities > 1 else "edges end anywhere"
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, size = Path(name), f"{options.nodes:,} nodes, {ends}"
        write_graph(folder, options, communities)
        title = f"**One hop, {size}, degree {options.degree}, {options.columns} columns; {load}**"
        table = f"{title}\n\n{measure(options, folder, stack).markdown()}"
        print(table, flush=True)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            peak = process.submit(peak_anonymous_bytes, folder).result()
    layer = 4 * options.nodes * options.columns
    print(f"peak of anonymous memory: {peak / 1e6:,.0f} MB; size of a layer: "
          f"{layer / 1e6:,.0f} MB")  # fmt: skip
    return table


if __name__ == "__main__":
    main()
