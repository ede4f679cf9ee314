"""What a growth costs, until the first answer about a new node: against building all anew.

    python performance/growth.py                   # up to a million nodes: 3 GB and some minutes
    python performance/growth.py --nodes 10000 100000 --labels 100

Each line is a process of its own: it draws a graph, fits, asks, and then lets the graph grow
several times by 100 nodes and 1,000 edges, whose ends are drawn evenly, asking about a new node
after each. On a line with a hub one of the new edges leads to a node that is joined to every
hundredth one: all its neighbours, and theirs, are no longer what they were. Then the same graph is
built from its whole tables, and the same is asked. ``refresh`` is how many stale rows of features
are made anew in a second, in slices, while nobody asks.
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
from performance import add_classes
from performance.add_classes import draw_graph, draw_labels, timed

from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth.clearing import clear_stale
from nodegraft.graph.keys import NodeKeys
from nodegraft.methods.graft import Graft

CLASSES, FEATURES = 50, 64

NEW_NODES, NEW_EDGES, ROUNDS = 100, 1000, 5
"""Of each growth, and how many of them."""

GOAL = 0.2
"""Seconds from a growth to the first answer, at a million nodes."""

HEAD = (
    f"{'nodes':>10} {'labels':>6} {'ends':>8} {'grow ms':>8} {'answer ms':>10} {'rebuild ms':>11} "
    f"{'answer ms':>10} {'saved':>6} {'stale rows':>11} {'refresh/s':>10}"
)


@dataclass(frozen=True)
class Case:
    """How large the graph is, by how many labels each class is known, and where edges come to."""

    nodes: int
    labels: int
    hub: bool


@dataclass(frozen=True)
class Cost:
    """Seconds: medians over all growths, and of one graph built anew."""

    grow: float
    answer: float
    rebuild: float
    answer_anew: float
    stale: int
    refresh: float


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6])
    parser.add_argument("--labels", type=int, default=20)
    options = parser.parse_args()
    cases = [Case(nodes, options.labels, hub) for nodes in options.nodes for hub in (False, True)]
    print(f"seconds of the processor (goal: {GOAL} in all at a million nodes)\n{HEAD}", flush=True)
    for case, cost in zip(cases, measured(cases), strict=True):
        print(line(case, cost), flush=True)


def measured(cases: Sequence[Case]) -> Iterator[Cost]:
    """One case after the other, each in a new process: none inherits the memory of another."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        yield from pool.map(measure, cases)


def line(case: Case, cost: Cost) -> str:
    """One row of the table."""
    saved = (cost.rebuild + cost.answer_anew) / (cost.grow + cost.answer)
    return (
        f"{case.nodes:>10,} {case.labels:>6} {'hub' if case.hub else 'even':>8} "
        f"{cost.grow * 1000:>8.1f} {cost.answer * 1000:>10.1f} {cost.rebuild * 1000:>11.1f} "
        f"{cost.answer_anew * 1000:>10.1f} {saved:>5.0f}× {cost.stale:>11,} {cost.refresh:>10,.0f}"
    )


def measure(case: Case) -> Cost:
    """Let a graph grow, then build it anew."""
    torch.set_num_threads(1)
    add_classes.FEATURES = FEATURES
    generator = Seeds(0).generator("growth")
    drawn = add_classes.Case(case.nodes, CLASSES, case.labels)
    graph, (known, _) = draw_graph(drawn, generator), draw_labels(drawn, generator)
    if case.hub:
        others = np.arange(100, case.nodes, 100)
        graph = graph.grow(edges=np.stack((np.zeros_like(others), others), axis=1))
    model = Graft().fit(graph, known)
    model.predict(graph, [0])
    rounds = []
    for _ in range(ROUNDS):
        grow, graph = timed(lambda graph=graph: grown(graph, case, generator))  # type: ignore[misc]
        newest = [graph.num_nodes - 1]
        answer, _ = timed(lambda graph=graph, newest=newest: model.predict(graph, newest))  # type: ignore[misc]
        rounds.append((grow, answer))
    grows, answers = zip(*rounds, strict=True)
    refresh, cleared = timed(lambda: clear_stale(graph))
    stale = cleared.rows
    keys, features, ends = graph.node_keys.values(), graph.features(graph.rows), graph.edges()
    fresh = deepcopy(model)
    rebuild, rebuilt = timed(
        lambda: Graph.from_parts(
            NodeKeys(keys), features, Adjacency.from_edges(*ends, num_nodes=len(keys))
        )
    )
    anew, _ = timed(lambda: fresh.predict(rebuilt, newest))
    middle = statistics.median(grows), statistics.median(answers)
    return Cost(*middle, rebuild, anew, stale, stale / max(refresh, 1e-9))


def grown(graph: Graph, case: Case, generator: np.random.Generator) -> Graph:
    """With new nodes, and edges that have one end at least among the old ones."""
    new = np.arange(graph.num_nodes, graph.num_nodes + NEW_NODES)
    ends = generator.integers(graph.num_nodes, size=(NEW_EDGES, 2))
    ends[:, 0] = generator.integers(new[-1] + 1, size=NEW_EDGES)
    # So that the node that is asked about is no island.
    ends[0, 0] = new[-1]
    if case.hub:
        ends[0, 1] = 0
    features = generator.standard_normal((NEW_NODES, FEATURES), dtype=np.float32)
    return graph.grow(new.tolist(), features, ends)


if __name__ == "__main__":
    main()
