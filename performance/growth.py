"""CPU time of growing a graph and predicting a new node, against building the whole graph.

    python -m performance.growth                   # up to a million nodes: 3 GB and some minutes
    python -m performance.growth --nodes 10000 100000 --labels 100

Each row comes from a new process: it draws a graph, fits, predicts, and then grows the graph five
times by 100 nodes and 1,000 edges with random ends, and predicts a new node after each growth. In
rows "hub" one of the new edges leads to a node that is a neighbour of every hundredth node, so that
the propagated features of its neighbours, and of theirs, become stale. Then the same graph is built
from all its nodes and edges, and the same node is predicted. "refresh/s" is the number of stale
rows of features that are recomputed per second, in slices, between requests.
"""

import argparse
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np
import torch
from performance.add_classes import draw_graph, draw_labels, require_nodes, timed

from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.clearing import clear_stale
from nodegraft.graph.keys import NodeKeys
from nodegraft.methods.graft import Graft
from performance import add_classes

CLASSES, FEATURES = 50, 64

NEW_NODES, NEW_EDGES, ROUNDS = 100, 1000, 5
"""New nodes and edges of each growth, and number of growths."""

GOAL = 0.2
"""Most CPU seconds of a growth and the first prediction, at a million nodes."""

HEAD = (
    f"{'nodes':>10} {'labels':>6} {'ends':>8} {'grow ms':>8} {'predict ms':>10} "
    f"{'rebuild ms':>11} {'predict ms':>10} {'saved':>6} {'stale rows':>11} {'refresh/s':>10}"
)


@dataclass(frozen=True)
class Case:
    """Number of nodes, labels of each class, and whether a new edge leads to a hub."""

    nodes: int
    labels: int
    hub: bool


@dataclass(frozen=True)
class Cost:
    """CPU seconds: medians over all growths, and those of the rebuilt graph."""

    grow: float
    predict: float
    rebuild: float
    predict_rebuilt: float
    stale: int
    refresh: float


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--labels", type=int, default=20)
    options = parser.parse_args()
    cases = [Case(nodes, options.labels, hub) for nodes in options.nodes for hub in (False, True)]
    require_nodes(parser, list(map(classes_of, cases)), "give a larger --nodes")
    goal = f"grow and predict in at most {GOAL} s at a million nodes"
    print(f"CPU time (goal: {goal})\n{HEAD}", flush=True)
    for case, cost in zip(cases, measure_all(cases), strict=True):
        print(line(case, cost), flush=True)


def classes_of(case: Case) -> add_classes.Case:
    """Return the sizes by which the graph and its labels are drawn."""
    return add_classes.Case(case.nodes, CLASSES, case.labels)


def measure_all(cases: Sequence[Case]) -> Iterator[Cost]:
    """Measure each case in a new process, so that none starts with caches of another."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        yield from pool.map(measure, cases)


def line(case: Case, cost: Cost) -> str:
    """Format a row of the table."""
    saved = (cost.rebuild + cost.predict_rebuilt) / (cost.grow + cost.predict)
    return (
        f"{case.nodes:>10,} {case.labels:>6} {'hub' if case.hub else 'even':>8} "
        f"{cost.grow * 1000:>8.1f} {cost.predict * 1000:>10.1f} {cost.rebuild * 1000:>11.1f} "
        f"{cost.predict_rebuilt * 1000:>10.1f} {saved:>5.0f}× {cost.stale:>11,} "
        f"{cost.refresh:>10,.0f}"
    )


def measure(case: Case) -> Cost:
    """Grow a graph, then rebuild it."""
    torch.set_num_threads(1)
    add_classes.FEATURES = FEATURES
    generator = Seeds(0).generator("growth")
    drawn = classes_of(case)
    graph, (known, _) = draw_graph(drawn, generator), draw_labels(drawn, generator)
    if case.hub:
        others = np.arange(100, case.nodes, 100)
        graph = graph.grow(edges=np.stack((np.zeros_like(others), others), axis=1))
    model = Graft().fit(graph, known)
    model.predict(graph, [0])
    rounds = []
    for _ in range(ROUNDS):
        grow, graph = timed(lambda graph=graph: grow_once(graph, case, generator))  # type: ignore[misc]
        newest = [graph.num_nodes - 1]
        predict, _ = timed(lambda graph=graph, newest=newest: model.predict(graph, newest))  # type: ignore[misc]
        rounds.append((grow, predict))
    grows, predictions = zip(*rounds, strict=True)
    refresh, cleared = timed(lambda: clear_stale(graph))
    stale = cleared.rows
    keys, features, ends = graph.node_keys.values(), graph.features(graph.rows), graph.edges()
    fresh = deepcopy(model)
    rebuild, rebuilt = timed(
        lambda: Graph.from_parts(
            NodeKeys(keys), features, Adjacency.from_edges(*ends, num_nodes=len(keys))
        )
    )
    predict_rebuilt, _ = timed(lambda: fresh.predict(rebuilt, newest))
    medians = statistics.median(grows), statistics.median(predictions)
    return Cost(*medians, rebuild, predict_rebuilt, stale, stale / max(refresh, 1e-9))


def grow_once(graph: Graph, case: Case, generator: np.random.Generator) -> Graph:
    """Add nodes, and edges of which at least one end is an old node."""
    new = np.arange(graph.num_nodes, graph.num_nodes + NEW_NODES)
    ends = generator.integers(graph.num_nodes, size=(NEW_EDGES, 2))
    ends[:, 0] = generator.integers(new[-1] + 1, size=NEW_EDGES)
    # The predicted node must have an edge.
    ends[0, 0] = new[-1]
    if case.hub:
        ends[0, 1] = 0
    features = generator.standard_normal((NEW_NODES, FEATURES), dtype=np.float32)
    return graph.grow(new.tolist(), features, ends)


if __name__ == "__main__":
    main()
