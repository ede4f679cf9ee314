"""Steps that ``studies.scale`` measures, each in a new process.

    python -m studies.scale_steps STEP FOLDER NODES     # prints what it took, as JSON
    python -m studies.scale_steps "build, text keys" FOLDER NODES

A step takes what the ones before it left in the folder: the tables, then the graph, its layers and
a model. Seconds are the processor's, so that other work on the machine counts little; memory is
what no file stands behind, above what the process held when all was imported.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from performance.add_classes import timed
from performance.anonymous_peak import AnonymousPeak
from performance.power_law import node_keys, write_tables

import nodegraft as ng
from nodegraft.base.seeds import Seeds
from nodegraft.graph.disk.blocks.encode import propagate
from nodegraft.graph.edges.operator import Operator
from nodegraft.graph.edges.row_blocks import widened
from nodegraft.graph.keys import Key
from nodegraft.store.objects.derived_cache import FolderCache

if TYPE_CHECKING:
    from nodegraft.model.method import Method

Seconds = dict[str, float]
Labels = dict[str, list[Key]]

CLASSES, NEW, SHOTS, ONE_OF = 200, 5, 5, 100
"""Classes in all, those that come later, labels of each class at least, and of how many nodes of
the known ones one is labelled."""

DEGREE, COLUMNS, HOPS = 20.0, 128, 2
NEW_NODES, NEW_EDGES = 100, 1000
"""That a graph grows by."""

TEXT_KEYS = ", text keys"
"""What names of steps and measures end with when keys are texts instead of integers."""


@dataclass(frozen=True)
class Case:
    """Number of nodes, type of keys, and the working folder."""

    folder: Path
    nodes: int
    keys: str = "integer"

    def opened(self) -> ng.Graph:
        """Open the graph as a store does, with a folder for derived data."""
        cache = FolderCache(self.folder / "derived")
        return ng.load_graph(self.folder / "graph").with_array_cache(cache)

    def model(self) -> "Method":
        """Load the fitted model."""
        return ng.load_model(self.folder / "model")

    def labels(self) -> Labels:
        """Return labels of every known class; node ``i`` has class ``i % CLASSES``."""
        size = self.nodes // CLASSES
        return self._of(range(CLASSES - NEW), np.arange(0, size, min(ONE_OF, size // SHOTS)))

    def new_labels(self, turn: int) -> Labels:
        """Return labels of each new class, different ones in each round."""
        return self._of(range(CLASSES - NEW, CLASSES), 1 + SHOTS * turn + np.arange(SHOTS))

    def keys_of(self, numbers: NDArray[np.int64]) -> list[Key]:
        """Return the keys of nodes."""
        keys: list[Key] = node_keys(numbers, self.keys).to_pylist()
        return keys

    def _of(self, classes: range, places: NDArray[np.int64]) -> Labels:
        return {f"class {kind}": self.keys_of(kind + CLASSES * places) for kind in classes}


def tables(case: Case) -> None:
    """Write the tables of the graph; this is not measured."""
    if not (case.folder / "tables").exists():
        shutil.rmtree(case.folder / "draft", ignore_errors=True)
        write_tables(
            case.folder / "draft",
            nodes=case.nodes,
            degree=DEGREE,
            columns=COLUMNS,
            classes=CLASSES,
            keys=case.keys,
            features="float16",
        )
        (case.folder / "draft").rename(case.folder / "tables")


def build(case: Case) -> Seconds:
    """Build a graph on disk from Parquet."""
    tables(case)
    shutil.rmtree(case.folder / "graph", ignore_errors=True)
    nodes, edges = case.folder / "tables" / "nodes", case.folder / "tables" / "edges"
    place = case.folder / "graph"
    return {"build": timed(lambda: ng.build_graph(nodes, edges, place, features="features"))[0]}


def bare_kernel(case: Case) -> Seconds:
    """Compute two hops with torch alone, in single precision from memory."""
    graph = ng.load_graph(case.folder / "graph")
    matrix = Operator(graph._adjacency.normalised).forward_matrix
    layers = [torch.from_numpy(widened(np.array(graph._store.feature_matrix)))]

    def spread() -> None:
        for _ in range(HOPS):
            # The one before is let go: three of them would not fit.
            layers.append(matrix @ layers.pop())

    return {"bare hops": timed(spread)[0]}


def hops(case: Case) -> Seconds:
    """Propagate as ``nodegraft propagate`` does, with every block flushed before the next."""
    shutil.rmtree(case.folder / "graph" / "propagated", ignore_errors=True)
    graph = ng.load_graph(case.folder / "graph")
    return {"kept hops": timed(lambda: propagate(graph, HOPS))[0]}


def fit(case: Case) -> Seconds:
    """Fit the default method on all classes but the last few."""
    model, graph = ng.Graft(), case.opened()
    seconds, _ = timed(lambda: model.fit(graph, case.labels()))
    shutil.rmtree(case.folder / "model", ignore_errors=True)
    model.save(case.folder / "model")
    # A model that is kept in a store has answered before somebody opens it.
    first, _ = timed(lambda: model.predict(graph, case.keys_of(np.array([0]))))
    return {"fit": seconds, "first answer": first}


def teach(case: Case) -> Seconds:
    """Open graph and model and predict; then add classes and predict again."""
    asked = case.keys_of(np.array([case.nodes // 2]))
    started, opening = time.process_time(), time.perf_counter()
    graph, model = case.opened(), case.model()
    model.predict(graph, asked)
    to_answer = time.process_time() - started
    waited = time.perf_counter() - opening
    teaching, _ = timed(lambda: model.add_classes(graph, case.new_labels(0)))
    answering, _ = timed(lambda: model.predict(graph, asked))
    model.remove_classes(case.new_labels(0))
    again, _ = timed(lambda: model.add_classes(graph, case.new_labels(1)))
    return {
        "open to answer": to_answer,
        "open to answer, on the clock": waited,
        "teach five classes": min(teaching, again),
        "answer after teaching": answering,
    }


def grow(case: Case) -> Seconds:
    """Grow by nodes and random edges and predict a new node; twice, and measure the second time.

    The first also opens the files.
    """
    graph, model = case.opened(), case.model()
    model.predict(graph, case.keys_of(np.array([0])))
    draws, found = Seeds(0).generator("growth"), dict[str, float]()
    for _ in range(2):
        new = np.arange(NEW_NODES) + graph.num_nodes
        ends = draws.integers(graph.num_nodes, size=(NEW_EDGES, 2))
        ends[:, 0] = draws.integers(new[-1] + 1, size=NEW_EDGES)
        ends[0, 0] = new[-1]
        numbers = draws.standard_normal((NEW_NODES, COLUMNS)).astype(np.float16)
        came, pairs = case.keys_of(new), np.array(case.keys_of(ends.ravel())).reshape(-1, 2)
        found["grow"], graph = timed(lambda: graph.grow(came, numbers, pairs))  # noqa: B023
        found["answer after growth"], _ = timed(lambda: model.predict(graph, came[-1:]))  # noqa: B023
    return found


def score_all(case: Case) -> Seconds:
    """Predict every node in blocks."""
    graph, model = case.opened(), case.model()
    model.predict(graph, case.keys_of(np.array([0])))
    return {"score all": timed(lambda: sum(some.rows.size for some in model.predict_all(graph)))[0]}


STEPS: dict[str, Callable[[Case], Seconds]] = {
    "build": build,
    "bare kernel": bare_kernel,
    "hops": hops,
    "fit": fit,
    "teach": teach,
    "grow": grow,
    "score all": score_all,
}


def main() -> None:
    """Run one step and print what it took."""
    torch.set_num_threads(1)
    name, folder, nodes = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    step, ending, _ = name.partition(TEXT_KEYS)
    case = Case(folder, nodes, "text" if ending else "integer")
    with AnonymousPeak() as memory:
        seconds = STEPS[step](case)
    told = {f"{measure}{ending}": float(f"{value:.4g}") for measure, value in seconds.items()}
    print(json.dumps({"seconds": told, "anonymous_bytes": memory.bytes}))


if __name__ == "__main__":
    main()
