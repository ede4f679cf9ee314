"""A trained encoder over every node of a graph on disk, against the same encoder in memory.

    python -m performance.encoding                      # 10^6 nodes, degree 20, 128 columns
    python -m performance.encoding --nodes 100000 --workers 2

Tables are drawn and built into a graph on disk; ``proto-gcn`` is trained on a part of it, the
labelled nodes and their neighbours. Then three processes, one after the other, each with what it
took above the start of its work: ``encode`` computes all layers in blocks, every block flushed to
the disk; ``answer`` gives the likeliest class of every node from what it left; ``memory`` makes the
full-batch pass that the first replaces, on the same mapped graph, and tells how far its embeddings
are from those on disk.
"""

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np
import torch
from performance.anonymous_peak import AnonymousPeak
from performance.power_law import write_tables

from nodegraft.graph.graph import Graph
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.methods.templates.pretrained import encode_for
from nodegraft.model.registry import load_model
from nodegraft.runners.block_processes import BlockProcesses
from nodegraft.tables.disk.build import build_graph
from nodegraft.tables.storage import load_graph

CLASSES, LABELS = 50, 40
"""How many there are, and how many nodes of each teach."""


@dataclass(frozen=True)
class Cost:
    """Of a piece of work."""

    seconds: float
    anonymous_bytes: int
    said: str
    """What came of it."""


def prepare(folder: Path, nodes: int, degree: float, columns: int) -> int:
    """A graph on disk and a model that was trained on a part of it; how many nodes that has."""
    write_tables(
        folder, nodes=nodes, degree=degree, columns=columns, classes=CLASSES, keys="integers",
        features="float16",
    )  # fmt: skip
    build_graph(folder / "nodes", folder / "edges", folder / "graph", features="features")
    graph = load_graph(folder / "graph")
    # Node i is of class i modulo their number.
    some = np.arange(CLASSES * LABELS)
    labels = {f"class {one}": graph.keys_of(some[one::CLASSES]) for one in range(CLASSES)}
    part = graph.neighbourhood(some, 1).rings[0]
    ProtoGCN(max_epochs=20).fit(graph.view(part), labels).save(folder / "model")
    return int(part.size)


def encode(folder: Path, workers: int) -> Cost:
    """All layers in blocks."""

    def work(graph: Graph, model: ProtoGCN) -> str:
        with BlockProcesses(workers) if workers > 1 else nullcontext() as executor:
            return f"{encode_for(model, graph, executor).computed} blocks"

    return watched(folder, work)


def answer(folder: Path) -> Cost:
    """The likeliest class of every node."""

    def work(graph: Graph, model: ProtoGCN) -> str:
        return f"{sum(best.rows.size for best in model.predict_all(graph)):,} answers"

    return watched(folder, work)


def memory(folder: Path) -> Cost:
    """The whole graph at once."""

    @torch.no_grad()
    def work(graph: Graph, model: ProtoGCN) -> str:
        whole = model.encoder()(graph.full_batch(2)).numpy()
        kept = model.embedding(graph, graph.rows).numpy()
        same = float((whole == kept).mean())
        return f"apart at most {np.abs(whole - kept).max():.1e}, {same:.1%} the same bits"

    return watched(folder, work)


def watched(folder: Path, work: Callable[[Graph, ProtoGCN], str]) -> Cost:
    """Seconds and anonymous bytes of a piece of work, and what it says."""
    torch.set_num_threads(1)
    graph, model = load_graph(folder / "graph"), load_model(folder / "model")
    assert isinstance(model, ProtoGCN)  # noqa: S101  (it was saved above)
    with AnonymousPeak() as peak:
        start = perf_counter()
        said = work(graph, model)
        seconds = perf_counter() - start
    return Cost(seconds, peak.bytes, said)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--workers", type=int, default=1, help="processes that encode")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        part = prepare(folder, options.nodes, options.degree, options.columns)
        print(f"{options.nodes:,} nodes, degree {options.degree:g}, {options.columns} columns of "
              f"float16; trained on {part:,} nodes", flush=True)  # fmt: skip
        steps: dict[str, Callable[[Path], Cost]] = {
            "encode": partial(encode, workers=options.workers),
            "answer": answer,
            "memory": memory,
        }
        for title, step in steps.items():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                cost = process.submit(step, folder).result()
            print(f"{title:8} {cost.seconds:7.2f} s, {options.nodes / cost.seconds:>11,.0f} "
                  f"nodes/s, {cost.anonymous_bytes / 1e6:7,.0f} MB anonymous; {cost.said}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
