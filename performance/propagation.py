"""The whole product SX against the bare CSR kernel with S ready in memory, in one run.

    python -m performance.propagation                      # 10^6 nodes, degree 15, 64 columns
    python -m performance.propagation --nodes 100000 --communities 1 100 --ray

``memory``: in blocks, graph and result in memory. ``mapped``: the same, all of it in files that
the page cache holds. ``kept``: as ``nodegraft propagate`` does it, every block written, flushed to
the disk and put into the journal. ``processes``, ``ray``: the same by two of them, start-up not
counted, and how many times as fast as ``kept`` that is. Rounds take turns, so that a noisy
neighbour on the machine hits all; seconds of the processor are those of all processes together.
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
from performance.process_family import processor_seconds

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
TWO = ("processes", "ray")
"""Who computes by two."""

HEAD = ["", "wall-clock seconds", "CPU seconds", "times the bare kernel", "speed-up"]


class Seconds(NamedTuple):
    """What a call took."""

    clock: float
    processor: float


def write_graph(folder: Path, options: argparse.Namespace, communities: int) -> None:
    """A power law of degrees; where there is one community, edges end anywhere."""
    nodes, draws = options.nodes, Seeds(0).generator("features")
    edges = power_law(nodes, options.degree, communities)
    features = draws.standard_normal((nodes, options.columns), dtype=np.float32)
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


def seconds(work: Callable[[], object]) -> Seconds:
    """Time one call."""
    start, used = perf_counter(), processor_seconds(getpid())
    work()
    return Seconds(perf_counter() - start, processor_seconds(getpid()) - used)


def peak_of_a_process(folder: Path) -> int:
    """Of one that maps the graph and keeps two layers."""
    torch.set_num_threads(1)
    graph = mapped_graph(folder)
    with AnonymousPeak() as memory:
        propagate(graph, 2, folder=folder / "watched")
    return memory.bytes


def measure(options: argparse.Namespace, folder: Path, stack: ExitStack) -> Table:
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
        from nodegraft.runners.ray_connection import RayBlocks

        variants["ray"] = kept(stack.enter_context(RayBlocks("local", cpus=2)))
    # The first round warms caches, starts workers and finds the graph's fingerprint.
    rounds = []
    for _ in range(options.rounds + 1):
        rounds.append({name: seconds(run) for name, run in variants.items()})
        for place in folder.glob("round-*"):
            shutil.rmtree(place) if place.is_dir() else place.unlink()
    return Table.of(HEAD, [[name, *told(rounds[1:], name)] for name in variants])


def told(rounds: Sequence[Mapping[str, Seconds]], name: str) -> list[str]:
    """Medians of one variant; ratios are those of calls in the same round."""
    clock = median(one[name].clock for one in rounds)
    processor = median(one[name].processor for one in rounds)
    over = median(one[name].clock / one["bare kernel"].clock for one in rounds)
    faster = median(one["kept"].clock / one[name].clock for one in rounds)
    cells = [f"{value:.2f}" for value in (clock, processor, over)]
    return [*cells, f"{faster:.2f}" if name in TWO else ""]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=int, default=15)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--communities", type=int, nargs="+", default=(1,))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ray", action="store_true", help="also as Ray tasks")
    parser.add_argument("--out", type=Path, help="a Markdown file for the table")
    options = parser.parse_args()
    torch.set_num_threads(1)
    tables = [one_graph(options, communities) for communities in options.communities]
    if options.out:
        written = "<!-- Written by performance/propagation.py. -->"
        options.out.write_text("\n\n".join([written, *tables]) + "\n")


def one_graph(options: argparse.Namespace, communities: int) -> str:
    """Measure on one graph and print; the table."""
    load = f"load {getloadavg()[0]:.1f} on {cpu_count()} cores"
    place = f"{communities:,} communities" if communities > 1 else "edges end anywhere"
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder, size = Path(name), f"{options.nodes:,} nodes, {place}"
        write_graph(folder, options, communities)
        what = f"**One hop, {size}, degree {options.degree}, {options.columns} columns; {load}**"
        table = f"{what}\n\n{measure(options, folder, stack).markdown()}"
        print(table, flush=True)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            peak = process.submit(peak_of_a_process, folder).result()
    layer = 4 * options.nodes * options.columns
    print(f"anonymous memory of one process: {peak / 1e6:,.0f} MB; a layer has "
          f"{layer / 1e6:,.0f} MB")  # fmt: skip
    return table


if __name__ == "__main__":
    main()
