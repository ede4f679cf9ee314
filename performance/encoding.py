"""Time and memory of encoding every node of a graph on disk, against a full pass in memory.

    python -m performance.encoding                      # 10^6 nodes, degree 20, 128 columns
    python -m performance.encoding --nodes 100000 --workers 2

A graph is built on disk, and ``proto-gcn`` is trained on its labelled nodes and their neighbours.
Then three steps run, each in a new process: ``encode`` computes all layers in blocks and flushes
every block to the disk; ``predict`` predicts every node from these embeddings; ``memory`` makes the
full-batch pass that ``encode`` replaces, on the same mapped graph, and compares its embeddings with
those on disk. Memory is the growth of anonymous memory during the step.
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
"""Number of classes, and of labels of each."""


@dataclass(frozen=True)
class Cost:
    """Time, memory and result of a step."""

    seconds: float
    anonymous_bytes: int
    summary: str


def prepare(folder: Path, nodes: int, degree: float, columns: int) -> int:
    """Build a graph and train a model on a part of it; return the number of nodes in the part."""
    write_tables(
        folder, nodes=nodes, degree=degree, columns=columns, classes=CLASSES, keys="integers",
        features="float16",
    )  # fmt: skip
    build_graph(folder / "nodes", folder / "edges", folder / "graph", features="features")
    graph = load_graph(folder / "graph")
    # Node i has class i % CLASSES.
    rows = np.arange(CLASSES * LABELS)
    labels = {f"class {k}": graph.keys_of(rows[k::CLASSES]) for k in range(CLASSES)}
    part = graph.neighbourhood(rows, 1).rings[0]
    ProtoGCN(max_epochs=20).fit(graph.view(part), labels).save(folder / "model")
    return int(part.size)


def encode(folder: Path, workers: int) -> Cost:
    """Compute all layers in blocks."""

    def work(graph: Graph, model: ProtoGCN) -> str:
        with BlockProcesses(workers) if workers > 1 else nullcontext() as executor:
            return f"{encode_for(model, graph, executor).computed} blocks"

    return measure(folder, work)


def predict(folder: Path) -> Cost:
    """Predict every node."""

    def work(graph: Graph, model: ProtoGCN) -> str:
        return f"{sum(best.rows.size for best in model.predict_all(graph)):,} predictions"

    return measure(folder, work)


def memory(folder: Path) -> Cost:
    """Encode the whole graph at once, and compare with the stored embeddings."""

    @torch.no_grad()
    def work(graph: Graph, model: ProtoGCN) -> str:
        full = model.encoder()(graph.full_batch(2)).numpy()
        stored = model.embedding(graph, graph.rows).numpy()
        identical = float((full == stored).mean())
        return f"largest difference {np.abs(full - stored).max():.1e}, {identical:.1%} identical"

    return measure(folder, work)


def measure(folder: Path, work: Callable[[Graph, ProtoGCN], str]) -> Cost:
    """Run a step and measure its time and anonymous memory."""
    torch.set_num_threads(1)
    graph, model = load_graph(folder / "graph"), load_model(folder / "model")
    assert isinstance(model, ProtoGCN)  # noqa: S101  (`prepare` saved it)
    with AnonymousPeak() as peak:
        start = perf_counter()
        summary = work(graph, model)
        seconds = perf_counter() - start
    return Cost(seconds, peak.bytes, summary)


def main() -> None:
    """Print a row for each step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--degree", type=float, default=20.0)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--workers", type=int, default=1, help="number of processes that encode")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        part = prepare(folder, options.nodes, options.degree, options.columns)
        print(f"{options.nodes:,} nodes, degree {options.degree:g}, {options.columns} columns of "
              f"float16; trained on {part:,} nodes", flush=True)  # fmt: skip
        steps: dict[str, Callable[[Path], Cost]] = {
            "encode": partial(encode, workers=options.workers),
            "predict": predict,
            "memory": memory,
        }
        for title, step in steps.items():
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
                cost = process.submit(step, folder).result()
            print(f"{title:8} {cost.seconds:7.2f} s, {options.nodes / cost.seconds:>11,.0f} "
                  f"nodes/s, {cost.anonymous_bytes / 1e6:7,.0f} MB anonymous; {cost.summary}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
