"""Training on sampled subgraphs against full batches: accuracy, time and memory.

    python -m studies.sampled_training --data DIR     # measure what is missing, then write the page
    python -m studies.sampled_training                # write the page again

First, single steps of pre-training on block models with 64 features and ten edges for each node,
1,024 labelled nodes. Second, ``hag-meta`` and ``proto-gcn`` learn an inner stream
(:mod:`studies.inner_streams`) with full batches and with several fan-outs. Each measurement is a
process on one thread. Writes ``studies/records/sampled-steps.json`` and ``sampled-training.json``,
one measurement after the other, and from them ``docs/explanation/sampled-training-measured.md``.
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from multiprocessing import get_context
from statistics import median

import numpy as np
import torch
from performance.anonymous_peak import AnonymousPeak
from studies.inner_streams import inner_stream
from studies.record_file import PAGES, Record

import nodegraft as ng
from nodegraft.analysis.rendering.table import Table
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.sampled_view import SampledView
from nodegraft.lab.report.tables import percent
from nodegraft.methods.neural.encoders import GCN
from nodegraft.methods.neural.pretraining import FullBatchTrainer, Pretraining, SampledTrainer
from studies import record_file

STREAMS = record_file.FOLDER / "sampled-training.json"
STEPS = record_file.FOLDER / "sampled-steps.json"
PAGE = PAGES / "sampled-training-measured.md"
METHODS = ("hag-meta", "proto-gcn")
FULL = 0
"""Fan-out in records of full batches."""
FAN_OUTS = (FULL, 5, 10)
BATCH = 1024
SIZES = (100_000, 1_000_000)
ROUNDS = 5


def main() -> None:
    """Measure what is missing if data is given, and write the page."""
    options = record_file.parser(__doc__, seeds=3, graphs=("gentoo",)).parse_args()
    if options.data:
        steps = product(SIZES, (FULL, 10))
        record_file.add_missing(STEPS, ("nodes", "fan_out"), steps, in_a_process(step_costs))
        streams = product(options.graphs, METHODS, range(options.seeds), FAN_OUTS)
        names = ("graph", "method", "seed", "fan_out")
        measured = in_a_process(partial(learned, options.data))
        record_file.add_missing(STREAMS, names, streams, measured)
    PAGE.write_text(page_text(record_file.read(STREAMS), record_file.read(STEPS)))


def in_a_process(function: Callable[..., Record]) -> Callable[..., Record]:
    """Return a function that runs another one in a process of its own."""

    def run(*values: object) -> Record:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            return process.submit(function, *values).result()

    return run


def learned(folder: str, graph: str, method: str, seed: int, fan_out: int) -> Record:
    """Measure a method on an inner stream.

    Args:
        folder: Folder that holds the data folders.
        graph: Name of the graph.
        method: Name of the method.
        seed: Seed of the stream.
        fan_out: Fan-out; 0 for full batches.
    """
    torch.set_num_threads(1)
    stream = inner_stream(ng.load_dataset(graph, folder), seed, "with-class")
    sampling = {} if fan_out == FULL else {"batch": BATCH, "fan_out": fan_out}
    model = ng.make_method(method, device="cpu", **sampling)
    start = time.process_time()
    with AnonymousPeak() as memory:
        result = evaluate(model, stream)
    return {
        "accuracy": round(result.sessions[-1].macro_accuracy, 4),
        "cpu_seconds": round(time.process_time() - start, 1),
        "anonymous_bytes": memory.bytes,
    }


def step_costs(nodes: int, fan_out: int) -> Record:
    """Measure a step of pre-training on 1,024 labelled nodes: the median of five, after one.

    Args:
        nodes: Number of nodes of the graph.
        fan_out: Fan-out; 0 for full batches.
    """
    torch.set_num_threads(1)
    graph, labels = BlockModel(nodes=nodes, classes=20, degree=20.0).draw()
    train = ng.NodeLabels({name: rows[: -(-BATCH // 20)] for name, rows in labels.items()})
    encoder = GCN([graph.num_features, 32, 16], Seeds(0).torch_generator("encoder"))
    trainer: FullBatchTrainer
    _ = graph.num_edges
    seconds = []
    with AnonymousPeak() as memory:
        if fan_out == FULL:
            trainer = FullBatchTrainer(Pretraining(), encoder, graph, train, Seeds(0))
        else:
            view = SampledView(graph, train.num_nodes, fan_out, seed=0)
            trainer = SampledTrainer(Pretraining(), encoder, view, train, Seeds(0))
        for _ in range(ROUNDS + 1):
            start = time.process_time()
            trainer.step()
            seconds.append(time.process_time() - start)
    return {
        "edges": graph.num_edges,
        "cpu_seconds": float(f"{median(seconds[1:]):.3g}"),
        "anonymous_bytes": memory.bytes,
    }


def page_text(streams: Sequence[Record], steps: Sequence[Record]) -> str:
    """Return tables of the costs of single steps, and of accuracy and costs on streams."""
    rows = []
    for graph, method in sorted({(record["graph"], record["method"]) for record in streams}):
        own = [
            record for record in streams if (record["graph"], record["method"]) == (graph, method)
        ]
        full = {record["seed"]: record for record in own if record["fan_out"] == FULL}
        for fan_out in FAN_OUTS:
            some = [record for record in own if record["fan_out"] == fan_out]
            pairs = [record for record in some if record["seed"] in full]
            gains = [record["accuracy"] - full[record["seed"]]["accuracy"] for record in pairs]
            if some:
                accuracy = percent([record["accuracy"] for record in some])
                gain = "" if fan_out == FULL else percent(gains, signed=True)
                numbers = [accuracy, gain, *costs(some)]
                rows.append([graph, method, name_of(fan_out), str(len(some)), *numbers])
    heads = ["graph", "method", "neighbours", "seeds", "macro accuracy, last session"]
    first = Table.of([*heads, "against full batches", "CPU s", "memory, MB"], rows)
    rows = [
        [
            f"{record['nodes']:,}",
            f"{record['edges']:,}",
            name_of(record["fan_out"]),
            *costs([record]),
        ]
        for record in steps
    ]
    second = Table.of(["nodes", "edges", "neighbours", "CPU s a step", "memory, MB"], rows)
    tables = [second, first] if streams else [second]
    note = "<!-- Written by studies/sampled_training.py. -->"
    return "\n\n".join([note, *(table.markdown() for table in tables)]) + "\n"


def name_of(fan_out: int) -> str:
    """Return the name of a fan-out in tables."""
    return "all, full batches" if fan_out == FULL else str(fan_out)


def costs(records: Sequence[Record]) -> list[str]:
    """Return the medians of CPU seconds and of memory as text."""
    seconds = float(np.median([record["cpu_seconds"] for record in records]))
    memory = float(np.median([record["anonymous_bytes"] for record in records]))
    return [f"{seconds:.3g}", f"{memory / 1e6:,.0f}"]


if __name__ == "__main__":
    main()
