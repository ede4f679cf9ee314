"""Time of scoring every node, against the matrix products that any such scorer needs.

    python -m performance.score_all                      # up to a million nodes: 3 GB, some minutes
    python -m performance.score_all --nodes 20000 --classes 100

Each row comes from a new process: it draws a graph with dense features, fits, adds five classes and
then, block by block, scores nodes and computes the bare products: rows of X, SX and S²X in memory
times the vectors of all classes, in the same precision. Both alternate, so that other load on the
machine slows down both. The second pass over all nodes is compared; "first/s" is the first one,
which also computes the lengths of rows. "CPU s" is the CPU time of the fastest of five more passes,
and "all s" that of `predict_all`, which also computes probabilities. So the difference of the two
is the cost of confidence.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from performance.add_classes import timed

from nodegraft.base.measure import Measurement
from nodegraft.graph.block_model import BlockModel
from nodegraft.methods.graft import Graft

LABELS, NEW, SHOTS = 100, 5, 5
"""Labels of each class that is fitted; number of classes that are added, and labels of each."""

FEATURES, HOPS, DEGREE = 64, 2, 20.0

PASSES = 5
"""Number of passes of which the fastest is printed."""

GOAL = 2.0
"""Largest ratio of the time of scoring to that of the bare products."""

HEAD = (
    f"{'nodes':>10} {'bare/s':>10} {'scored/s':>10} {'ratio':>6} {'first/s':>10} {'peak MB':>8} "
    f"{'CPU s':>7} {'all s':>7}"
)


@dataclass(frozen=True)
class Cost:
    """CPU seconds of the bare products, of scoring all nodes, and of the first time."""

    bare: float
    scores: float
    first: float
    peak_bytes: int
    """Growth of memory during the first pass."""
    fastest: float
    """CPU seconds of the fastest pass."""
    predictions: float
    """CPU seconds of the fastest pass of `predict_all`."""


def main() -> None:
    """Print a row for each number of nodes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--classes", type=int, default=50)
    options = parser.parse_args()
    print(f"scoring all nodes (goal: at most {GOAL} times the bare products)\n{HEAD}", flush=True)
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for nodes in options.nodes:
            cost = pool.submit(measure, nodes, options.classes).result()
            print(line(nodes, cost), flush=True)


def line(nodes: int, cost: Cost) -> str:
    """Format a row of the table."""
    return (
        f"{nodes:>10,} {nodes / cost.bare:>10,.0f} {nodes / cost.scores:>10,.0f} "
        f"{cost.scores / cost.bare:>6.2f} {nodes / cost.first:>10,.0f} "
        f"{cost.peak_bytes / 1e6:>8,.0f} {cost.fastest:>7.3f} "
        f"{cost.predictions:>7.3f}"
    )


def measure(nodes: int, classes: int) -> Cost:
    """Score all nodes of a graph twice, the second time next to the bare products."""
    torch.set_num_threads(1)
    graph, labels = BlockModel(
        nodes=nodes, classes=classes, features=FEATURES, degree=DEGREE, signal=2.0
    ).draw()
    keys = {name: graph.keys_of(rows[:LABELS]) for name, rows in labels.items()}
    names = list(keys)
    # With fixed weights, none of which is zero, so that every signal is computed.
    model = Graft(practise=False).fit(graph, {name: keys[name] for name in names[:-NEW]})
    model.add_classes(graph, {name: keys[name][:SHOTS] for name in names[-NEW:]})
    starts = range(0, nodes, model.block_rows)
    blocks = [graph.rows[start : start + model.block_rows] for start in starts]
    with Measurement() as work:
        first = sum(timed(lambda: model.score_rows(graph, rows))[0] for rows in blocks)  # noqa: B023
    layers = graph.propagated(graph.rows, HOPS)
    # Two vectors for each class, for cosines and a regression, and one for the mean of all.
    vectors = np.random.default_rng(0).standard_normal((FEATURES, 2 * classes + 1))
    bare = scores = 0.0
    for rows in blocks:
        bare += timed(lambda: products([layer[rows] for layer in layers], vectors))[0]  # noqa: B023
        scores += timed(lambda: model.score_rows(graph, rows))[0]  # noqa: B023
    fastest, predictions = (
        min(timed(call)[0] for _ in range(PASSES))
        for call in (
            lambda: [model.score_rows(graph, rows) for rows in blocks],
            lambda: list(model.predict_all(graph)),
        )
    )
    return Cost(bare, scores, first, work.peak_bytes, fastest, predictions)


def products(layers: list[Any], vectors: NDArray[np.float64]) -> None:
    """Multiply rows of each layer with the vectors of all classes."""
    for layer in layers:
        layer.astype(np.float64) @ vectors


if __name__ == "__main__":
    main()
