"""CPU time of adding five classes, on larger graphs and next to more known classes.

    python -m performance.add_classes              # up to ten million nodes: 6 GB and some minutes
    python -m performance.add_classes --nodes 10000 100000 --known 10 100

Each row comes from a new process: it draws a graph, fits, adds and removes five classes once to
warm up, and then adds and removes others. It alternates with the first case of its table, to which
the columns "growth" compare it. The scoring time is that of the first scores after an addition: it
includes the means and diffusion of the new classes and a pass over a sample of unlabelled nodes,
but not what is cached for the known classes.
"""

import argparse
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from nodegraft.base.measure import peak_resident_bytes
from nodegraft.base.seeds import Seeds
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import NodeKeys
from nodegraft.methods.graft import Graft

Result = TypeVar("Result")

EDGES, FEATURES = 10, 16
"""Edges and features of each node."""

WAYS, SHOTS, QUERIES, ROUNDS = 5, 5, 100, 9
"""New classes, labels of each, nodes scored, and number of measured rounds."""

INSIDE = 0.8
"""Share of edges between nodes of the same class."""

NOISE = 2.0
"""Standard deviation of a feature within a class; class means have standard deviation 1."""

GOAL = 1.5
"""Largest growth of the time to add classes, from ten thousand nodes to ten million."""

HEAD = (
    f"{'nodes':>10} {'known':>6} {'labels':>6} {'add ms':>8} {'growth':>7} {'score ms':>9} "
    f"{'growth':>7} {'bytes/known':>12} {'bytes/new':>10} {'graph s':>8} {'fit s':>7} "
    f"{'peak GB':>8}"
)


@dataclass(frozen=True)
class Case:
    """Number of nodes, of known classes, and of labels of each known class."""

    nodes: int
    known: int
    labels: int

    @property
    def classes(self) -> int:
        """Number of known and new classes."""
        return self.known + WAYS

    @property
    def fewest_nodes(self) -> int:
        """Smallest number of nodes with enough labels for every class."""
        return self.classes * max(self.labels, (1 + ROUNDS) * SHOTS)


@dataclass(frozen=True)
class Cost:
    """Median CPU seconds, their ratios to the first case, bytes per class, and setup costs."""

    add_seconds: float
    score_seconds: float
    add_growth: float
    score_growth: float
    known_bytes: float
    new_bytes: float
    draw_seconds: float
    fit_seconds: float
    peak_bytes: int


class Trial:
    """Graph, model fitted on it, and classes to add and remove."""

    def __init__(self, case: Case) -> None:
        generator = Seeds(0).generator("add classes")
        self.draw_seconds, self._graph = timed(lambda: draw_graph(case, generator))
        known, self._new_classes = draw_labels(case, generator)
        self._queries = generator.choice(case.nodes, QUERIES, replace=False)
        self._model = Graft()
        self.fit_seconds, _ = timed(lambda: self._model.fit(self._graph, known))
        self.known_bytes = self._model.state().nbytes
        self.peak_bytes = peak_resident_bytes()

    def run_round(self, number: int) -> tuple[float, float, int]:
        """Add and remove classes; return the seconds to add and to score, and the model's bytes."""
        support = {name: nodes[number] for name, nodes in self._new_classes.items()}
        add, added = timed(lambda: self._model.add_classes(self._graph, support))
        score, _ = timed(lambda: self._model.score_rows(self._graph, self._queries))
        # `add_classes` resets the kernel's high-water mark, so the peak is read in every round.
        self.peak_bytes = max(self.peak_bytes, peak_resident_bytes())
        self._model.remove_classes(self._new_classes)
        return add, score, added.kept_bytes


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6, 10**7])
    parser.add_argument("--known", type=int, nargs="*", default=[10, 100, 1000])
    options = parser.parse_args()
    larger_graphs = [Case(nodes, 50, 100) for nodes in options.nodes]
    more_classes = [Case(10**5, known, 10) for known in options.known]
    require_nodes(parser, larger_graphs, "give a larger --nodes")
    require_nodes(parser, more_classes, "give a smaller --known")
    compare(f"larger graphs (goal: add_classes at most × {GOAL})", larger_graphs)
    compare("more known classes", more_classes)


def require_nodes(parser: argparse.ArgumentParser, cases: Sequence[Case], advice: str) -> None:
    """End the program with an error if a case has too few nodes for its labels."""
    for case in cases:
        if case.nodes < case.fewest_nodes:
            parser.error(
                f"{case.known:,} known classes with {case.labels:,} labels each and {WAYS} new "
                f"ones need {case.fewest_nodes:,} nodes, not {case.nodes:,}: {advice}"
            )


def compare(title: str, cases: Sequence[Case]) -> None:
    """Print a row for each case as soon as it is measured, then the growth to the last case."""
    if not cases:
        return
    print(f"{title}\n{HEAD}", flush=True)
    for case, cost in zip(cases, measure_all(cases), strict=True):
        print(line(case, cost), flush=True)
    print(f"from first to last: add_classes × {cost.add_growth:.2f}, "
          f"score_rows × {cost.score_growth:.2f}\n")  # fmt: skip


def measure_all(cases: Sequence[Case]) -> Iterator[Cost]:
    """Measure each case in a new process, so that peaks of memory do not add up."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        yield from pool.map(measure, cases, [cases[0]] * len(cases))


def line(case: Case, cost: Cost) -> str:
    """Format a row of the table."""
    return (
        f"{case.nodes:>10,} {case.known:>6} {case.labels:>6} {cost.add_seconds * 1000:>8.2f} "
        f"{cost.add_growth:>7.2f} {cost.score_seconds * 1000:>9.1f} {cost.score_growth:>7.2f} "
        f"{cost.known_bytes:>12.0f} {cost.new_bytes:>10.0f} "
        f"{cost.draw_seconds:>8.1f} {cost.fit_seconds:>7.1f} {cost.peak_bytes / 1e9:>8.2f}"
    )


def measure(case: Case, first: Case) -> Cost:
    """Measure a case, alternating with the first one, so that other load slows down both."""
    torch.set_num_threads(1)
    trial, baseline = Trial(case), Trial(first)
    rounds = [(trial.run_round(n), baseline.run_round(n)) for n in range(1 + ROUNDS)]
    adds, scores, model_bytes = zip(*(own for own, _ in rounds[1:]), strict=True)
    growths = [(own[0] / other[0], own[1] / other[1]) for own, other in rounds[1:]]
    add_growths, score_growths = zip(*growths, strict=True)
    return Cost(
        statistics.median(adds),
        statistics.median(scores),
        statistics.median(add_growths),
        statistics.median(score_growths),
        trial.known_bytes / case.known,
        (model_bytes[-1] - trial.known_bytes) / WAYS,
        trial.draw_seconds,
        trial.fit_seconds,
        trial.peak_bytes,
    )


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Return the CPU seconds and the result of a call."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def draw_graph(case: Case, generator: np.random.Generator) -> Graph:
    """Draw a graph in which node ``i`` has class ``i % classes``: no class is contiguous."""
    nodes = np.arange(case.nodes, dtype=np.int32)
    features = generator.standard_normal((case.nodes, FEATURES), dtype=np.float32)
    features *= NOISE
    features += generator.standard_normal((case.classes, FEATURES))[nodes % case.classes]
    source = np.repeat(nodes, EDGES)
    target = draw_targets(source, case, generator)
    adjacency = Adjacency.from_edges(source, target, case.nodes)
    return Graph.from_parts(NodeKeys(nodes), features, adjacency)


def draw_targets(
    source: NDArray[np.int32], case: Case, generator: np.random.Generator
) -> NDArray[np.int32]:
    """Draw a target node for each source node, for most edges of the same class."""
    target = generator.integers(case.nodes, size=source.size, dtype=np.int32)
    inside = np.flatnonzero(generator.random(source.size, dtype=np.float32) < INSIDE)
    near = target[inside] + source[inside] % case.classes - target[inside] % case.classes
    target[inside] = np.where(near < case.nodes, near, near - case.classes)
    return target


def draw_labels(
    case: Case, generator: np.random.Generator
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
    """Draw labels of the known classes, and labels of the new classes for every round."""
    sizes = [case.labels] * case.known + [(1 + ROUNDS) * SHOTS] * WAYS
    members = {
        f"class {label}": label
        + case.classes * generator.choice(case.nodes // case.classes, size, replace=False)
        for label, size in enumerate(sizes)
    }
    names = list(members)
    known = {name: members[name] for name in names[: case.known]}
    new = {name: members[name].reshape(-1, SHOTS) for name in names[case.known :]}
    return known, new


if __name__ == "__main__":
    main()
