"""The steps that ``studies.scale`` measures, each in a process of its own.

    python -m studies.scale_steps STEP FOLDER NODES     # prints what it took, as JSON

A step takes what the ones before it left in the folder: the tables, then the graph, its layers and
a model. Seconds are the processor's, so that other work on the machine counts little; memory is
what no file stands behind, above what the process held when all was imported.
"""

import json
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from performance.add_classes import timed
from performance.anonymous_peak import AnonymousPeak
from performance.power_law import node_keys, write_tables

import nodegraft as ng
from nodegraft.base.seeds import Seeds
from nodegraft.graph.algebra.operator import Operator
from nodegraft.graph.algebra.row_blocks import widened
from nodegraft.graph.blocks.propagate import propagate
from nodegraft.store.shelf import FolderShelf

Seconds = dict[str, float]

CLASSES, NEW, SHOTS, ONE_OF = 200, 5, 5, 100
"""Classes in all, those that come later, labels of each class at least, and of how many nodes of
the known ones one is labelled."""

DEGREE, COLUMNS, HOPS = 20.0, 128, 2
NEW_NODES, NEW_EDGES = 100, 1000
"""That a graph grows by."""


def tables(folder: Path, nodes: int) -> None:
    """Write the tables that all starts from, which is not measured."""
    if not (folder / "tables").exists():
        shutil.rmtree(folder / "draft", ignore_errors=True)
        write_tables(
            folder / "draft",
            nodes=nodes,
            degree=DEGREE,
            columns=COLUMNS,
            classes=CLASSES,
            keys="integer",
            features="float16",
        )
        (folder / "draft").rename(folder / "tables")


def build(folder: Path, nodes: int) -> Seconds:
    """Parquet to a graph on disk."""
    tables(folder, nodes)
    shutil.rmtree(folder / "graph", ignore_errors=True)
    places = folder / "tables" / "nodes", folder / "tables" / "edges", folder / "graph"
    return {"build": timed(lambda: ng.build_graph(*places, features="features"))[0]}


def bare_kernel(folder: Path, nodes: int) -> Seconds:
    """Two hops by torch alone: operator and features ready in memory, in single precision."""
    graph = ng.load_graph(folder / "graph")
    matrix = Operator(graph._adjacency.normalised).forward_matrix
    layers = [torch.from_numpy(widened(np.array(graph._store.feature_matrix)))]

    def spread() -> None:
        for _ in range(HOPS):
            # The one before is let go: three of them would not fit.
            layers.append(matrix @ layers.pop())

    return {"bare hops": timed(spread)[0]}


def hops(folder: Path, nodes: int) -> Seconds:
    """As ``nodegraft propagate`` does it, every block on the disk before the next is begun."""
    shutil.rmtree(folder / "graph" / "propagated", ignore_errors=True)
    graph = ng.load_graph(folder / "graph")
    return {"kept hops": timed(lambda: propagate(graph, HOPS))[0]}


def fit(folder: Path, nodes: int) -> Seconds:
    """The default method, on all classes but the last few."""
    model, graph = ng.Graft(), opened(folder)
    seconds, _ = timed(lambda: model.fit(graph, labels(nodes)))
    shutil.rmtree(folder / "model", ignore_errors=True)
    model.save(folder / "model")
    # A model that is kept in a store has answered before somebody opens it.
    first, _ = timed(lambda: model.predict(graph, keys_of(np.array([0]))))
    return {"fit": seconds, "first answer": first}


def teach(folder: Path, nodes: int) -> Seconds:
    """Open graph and model, answer; then new classes, and the answer after them."""
    asked = keys_of(np.array([nodes // 2]))
    started, opening = time.process_time(), time.perf_counter()
    graph, model = opened(folder), ng.load_model(folder / "model")
    model.predict(graph, asked)
    to_answer = time.process_time() - started
    waited = time.perf_counter() - opening
    teaching, _ = timed(lambda: model.add_classes(graph, new_labels(0)))
    answering, _ = timed(lambda: model.predict(graph, asked))
    model.remove_classes(new_labels(0))
    again, _ = timed(lambda: model.add_classes(graph, new_labels(1)))
    return {
        "open to answer": to_answer,
        "open to answer, on the clock": waited,
        "teach five classes": min(teaching, again),
        "answer after teaching": answering,
    }


def grow(folder: Path, nodes: int) -> Seconds:
    """New nodes and edges, ends anywhere, and an answer about one of them; twice, the second told.

    The first also opens the files.
    """
    graph, model = opened(folder), ng.load_model(folder / "model")
    model.predict(graph, keys_of(np.array([0])))
    draws, found = Seeds(0).generator("growth"), dict[str, float]()
    for _ in range(2):
        new = np.arange(NEW_NODES) + graph.num_nodes
        ends = draws.integers(graph.num_nodes, size=(NEW_EDGES, 2))
        ends[:, 0] = draws.integers(new[-1] + 1, size=NEW_EDGES)
        ends[0, 0] = new[-1]
        numbers = draws.standard_normal((NEW_NODES, COLUMNS)).astype(np.float16)
        pairs = np.array(keys_of(ends.ravel())).reshape(-1, 2)
        found["grow"], graph = timed(lambda: graph.grow(keys_of(new), numbers, pairs))  # noqa: B023
        found["answer after growth"], _ = timed(lambda: model.predict(graph, keys_of(new[-1:])))  # noqa: B023
    return found


def score_all(folder: Path, nodes: int) -> Seconds:
    """The likeliest class of every node, in blocks."""
    graph, model = opened(folder), ng.load_model(folder / "model")
    model.predict(graph, keys_of(np.array([0])))
    return {"score all": timed(lambda: sum(some.rows.size for some in model.predict_all(graph)))[0]}


STEPS: dict[str, Callable[[Path, int], Seconds]] = {
    "build": build,
    "bare kernel": bare_kernel,
    "hops": hops,
    "fit": fit,
    "teach": teach,
    "grow": grow,
    "score all": score_all,
}


def opened(folder: Path) -> ng.Graph:
    """The graph as a store opens it, with a place for what takes long to work out."""
    return ng.load_graph(folder / "graph").with_shelf(FolderShelf(folder / "derived"))


def labels(nodes: int) -> dict[str, list[int]]:
    """Some nodes of every known class: node i is of class i modulo their number."""
    size = nodes // CLASSES
    places = np.arange(0, size, min(ONE_OF, size // SHOTS))
    return {f"class {kind}": keys_of(kind + CLASSES * places) for kind in range(CLASSES - NEW)}


def new_labels(turn: int) -> dict[str, list[int]]:
    """Some nodes of each of the classes that come later, others each turn."""
    places = 1 + SHOTS * turn + np.arange(SHOTS)
    return {
        f"class {kind}": keys_of(kind + CLASSES * places) for kind in range(CLASSES - NEW, CLASSES)
    }


def keys_of(numbers: NDArray[np.int64]) -> list[int]:
    """The keys of nodes in the tables."""
    keys: list[int] = node_keys(numbers, "integer").to_pylist()
    return keys


def main() -> None:
    """Run one step and print what it took."""
    torch.set_num_threads(1)
    step, folder, nodes = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    with AnonymousPeak() as memory:
        seconds = STEPS[step](folder, nodes)
    told = {name: float(f"{value:.4g}") for name, value in seconds.items()}
    print(json.dumps({"seconds": told, "anonymous_bytes": memory.bytes}))


if __name__ == "__main__":
    main()
