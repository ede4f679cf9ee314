"""What five new classes cost: on ever larger graphs, and beside ever more known classes.

    python performance/add_classes.py              # up to ten million nodes: 6 GB and some minutes
    python performance/add_classes.py --nodes 10000 100000 --known 10 100

Each line is a process of its own: it draws a graph, fits, plays one increment to warm up and then
others from other nodes, taking back each before the next. It does so in turns with the first case
of the table, against which growth is measured. Scoring is the first one after an increment, when
means and walks of the new classes are made and unlabelled nodes are looked at; what was made for
the known classes is kept.
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
"""Drawn for each node."""

WAYS, SHOTS, ASKED, ROUNDS = 5, 5, 100, 9
"""New classes, labels of each, nodes scored, and how often all of it is repeated."""

INSIDE = 0.8
"""Share of edges that stay among the nodes of one class."""

NOISE = 2.0
"""Of a feature, where classes are 1 apart."""

GOAL = 1.5
"""How much dearer adding classes may get, from ten thousand nodes to ten million."""

HEAD = (
    f"{'nodes':>10} {'known':>6} {'labels':>6} {'add ms':>8} {'growth':>7} {'score ms':>9} "
    f"{'growth':>7} {'bytes/known':>12} {'bytes/new':>10} {'graph s':>8} {'fit s':>7} "
    f"{'peak GB':>8}"
)


@dataclass(frozen=True)
class Case:
    """How large the graph is, how many classes are known, by how many labels each."""

    nodes: int
    known: int
    labels: int

    @property
    def classes(self) -> int:
        """Known and new ones."""
        return self.known + WAYS


@dataclass(frozen=True)
class Cost:
    """Medians over all rounds, alone and against the first case; bytes a class; what led there."""

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
    """A graph, a model fitted on it, and classes that arrive and are taken back."""

    def __init__(self, case: Case) -> None:
        generator = Seeds(0).generator("add classes")
        self.draw_seconds, self._graph = timed(lambda: draw_graph(case, generator))
        known, self._arriving = draw_labels(case, generator)
        self._asked = generator.choice(case.nodes, ASKED, replace=False)
        self._model = Graft()
        self.fit_seconds, _ = timed(lambda: self._model.fit(self._graph, known))
        self.known_bytes = self._model.state().nbytes
        self.peak_bytes = peak_resident_bytes()

    def play(self, number: int) -> tuple[float, float, int]:
        """Seconds to add and to score, and the bytes kept of all classes."""
        support = {name: nodes[number] for name, nodes in self._arriving.items()}
        add, added = timed(lambda: self._model.add_classes(self._graph, support))
        score, _ = timed(lambda: self._model.score_rows(self._graph, self._asked))
        # Every increment, of whichever trial, starts the kernel's high-water mark afresh.
        self.peak_bytes = max(self.peak_bytes, peak_resident_bytes())
        self._model.remove_classes(self._arriving)
        return add, score, added.kept_bytes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--nodes", type=int, nargs="*", default=[10**4, 10**5, 10**6, 10**7])
    parser.add_argument("--known", type=int, nargs="*", default=[10, 100, 1000])
    options = parser.parse_args()
    title = f"larger graphs (goal: add_classes at most × {GOAL})"
    compare(title, [Case(nodes, 50, 100) for nodes in options.nodes])
    compare("more known classes", [Case(10**5, known, 10) for known in options.known])


def compare(title: str, cases: Sequence[Case]) -> None:
    """A line for each case as soon as it is measured, then how much dearer the last one is."""
    if not cases:
        return
    print(f"{title}\n{HEAD}", flush=True)
    for case, cost in zip(cases, measured(cases), strict=True):
        print(line(case, cost), flush=True)
    print(f"from first to last: add_classes × {cost.add_growth:.2f}, "
          f"score_rows × {cost.score_growth:.2f}\n")  # fmt: skip


def measured(cases: Sequence[Case]) -> Iterator[Cost]:
    """One case after the other, each in a new process: none inherits the memory of another."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        yield from pool.map(measure, cases, [cases[0]] * len(cases))


def line(case: Case, cost: Cost) -> str:
    """One row of the table."""
    return (
        f"{case.nodes:>10,} {case.known:>6} {case.labels:>6} {cost.add_seconds * 1000:>8.2f} "
        f"{cost.add_growth:>7.2f} {cost.score_seconds * 1000:>9.1f} {cost.score_growth:>7.2f} "
        f"{cost.known_bytes:>12.0f} {cost.new_bytes:>10.0f} "
        f"{cost.draw_seconds:>8.1f} {cost.fit_seconds:>7.1f} {cost.peak_bytes / 1e9:>8.2f}"
    )


def measure(case: Case, first: Case) -> Cost:
    """Play increments of a case, in turns with the first one: a busy machine slows down both."""
    torch.set_num_threads(1)
    here, there = Trial(case), Trial(first)
    rounds = [(here.play(number), there.play(number)) for number in range(1 + ROUNDS)]
    adds, scores, kept = zip(*(own for own, _ in rounds[1:]), strict=True)
    growths = [(own[0] / other[0], own[1] / other[1]) for own, other in rounds[1:]]
    add_growths, score_growths = zip(*growths, strict=True)
    return Cost(
        statistics.median(adds),
        statistics.median(scores),
        statistics.median(add_growths),
        statistics.median(score_growths),
        here.known_bytes / case.known,
        (kept[-1] - here.known_bytes) / WAYS,
        here.draw_seconds,
        here.fit_seconds,
        here.peak_bytes,
    )


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    """Seconds of the processor for one call, waiting for others left out, and what it gave."""
    start = time.process_time()
    result = work()
    return time.process_time() - start, result


def draw_graph(case: Case, generator: np.random.Generator) -> Graph:
    """Node ``i`` has class ``i`` modulo their number, so classes lie all over the memory."""
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
    """Any node, or for most edges one close to it in number that is of the source's class."""
    target = generator.integers(case.nodes, size=source.size, dtype=np.int32)
    inside = np.flatnonzero(generator.random(source.size, dtype=np.float32) < INSIDE)
    near = target[inside] + source[inside] % case.classes - target[inside] % case.classes
    target[inside] = np.where(near < case.nodes, near, near - case.classes)
    return target


def draw_labels(
    case: Case, generator: np.random.Generator
) -> tuple[dict[str, NDArray[np.int64]], dict[str, NDArray[np.int64]]]:
    """Nodes of every known class; of every new class as many supports as there are rounds."""
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
