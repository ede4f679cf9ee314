"""Checks that a model identifies nodes by key, and scores each new row independently."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from nodegraft.base.errors import MissingLabelsError, NotSupportedError
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.model.contract.case import Case, expect, expect_close, scores
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method

TOLERANCE = 1e-5


def check_rows_may_come_in_any_order(case: Case, seed: int = 0) -> None:
    """Require that predictions of a saved model do not depend on the order of the tables."""
    model, draws = case.after_sessions(), np.random.default_rng(seed)
    loaded, moved = _reloaded(model), shuffled(case.graph, draws)
    _expect_same(model, case.graph, loaded, moved, "rows in another order")
    name = case.unused_classes[0]
    keys = case.keys(name, 4)
    model.add_classes(case.graph, {name: keys})
    loaded.add_classes(moved, {name: draws.permutation(np.array(keys, dtype=object)).tolist()})
    expect(loaded.classes_ == model.classes_, "rows in another order: other classes")
    if Capability.UNDO in model.capabilities():
        # Gradient training draws dropout row by row, so a different order of rows gives a different
        # model.
        _expect_same(model, case.graph, loaded, moved, "labels in another order")


def check_rows_may_be_inserted(case: Case, seed: int = 0) -> None:
    """Require equal predictions whether new nodes are appended to a table or inserted into it."""
    model, draws = case.after_sessions(), np.random.default_rng(seed)
    features = draws.random((30, case.graph.num_features)).astype(np.float32)
    ends = draws.choice(np.array(case.graph.keys_of(case.graph.rows), dtype=object), 30)
    keys = [f"new{place}" for place in range(30)]
    grown = case.graph.grow(keys, features, list(zip(keys, ends.tolist(), strict=True)))
    _expect_same(model, grown, _reloaded(model), shuffled(grown, draws), "rows inserted")


def check_nodes_may_go(case: Case, seed: int = 0) -> None:
    """Require that a model can be used on a graph from which nodes were removed.

    If it needs the removed nodes, it may raise an error that names them.
    """
    model, draws = case.after_sessions(), np.random.default_rng(seed)
    graph = case.graph
    labelled_rows = graph.rows_of([key for keys in model.labels_.values() for key in keys.tolist()])
    free = np.setdiff1d(graph.rows, labelled_rows)
    removed_rows = draws.permutation(free)[:20]
    smaller = part(graph, np.setdiff1d(graph.rows, removed_rows))
    _expect_same(model, smaller, _reloaded(model), shuffled(smaller, draws), "nodes removed")
    lost = graph.keys_of(labelled_rows)[-1]
    without = part(graph, np.setdiff1d(graph.rows, graph.rows_of([lost])))
    try:
        answers = model.predict_proba(without, without.keys_of(without.rows))
        expect(bool(np.isfinite(answers).all()), "predictions without a label are not finite")
    except MissingLabelsError as error:
        expect(repr(lost) in str(error), f"the refusal does not name {lost!r}: {error}")


def shuffled(graph: Graph, draws: np.random.Generator) -> Graph:
    """Return a graph with equal nodes and edges in random order."""
    return part(graph, draws.permutation(graph.rows), draws)


def part(graph: Graph, rows: NDArray[np.int64], draws: np.random.Generator | None = None) -> Graph:
    """Return a new graph that contains only the given nodes, in the given order.

    Args:
        draws: Random generator for the order of edges; None to keep their order.
    """
    source, target = graph.edges()
    is_inside = np.isin(source, rows) & np.isin(target, rows)
    ends = np.stack((source[is_inside], target[is_inside]), axis=1)
    if draws is not None:
        ends = draws.permuted(draws.permutation(ends), axis=1)
    pairs = [tuple(graph.keys_of(pair)) for pair in ends]
    keys: list[Key] = graph.keys_of(rows)
    return Graph(keys, graph.features(rows), pairs)  # type: ignore[arg-type]


def _reloaded(model: Method) -> Method:
    with TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        return type(model).load(Path(folder, "model"))


def _expect_same(model: Method, graph: Graph, other: Method, moved: Graph, what: str) -> None:
    nodes = graph.keys_of(graph.rows)
    scores = [
        fitted.score_rows(place, place.rows_of(nodes))
        for fitted, place in ((model, graph), (other, moved))
    ]
    size = max(1.0, float(np.abs(scores[0]).max()))
    expect_close(scores[1] / size, scores[0] / size, TOLERANCE, f"{what}: other scores")
    ours, theirs = model.predict_proba(graph, nodes), other.predict_proba(moved, nodes)
    # If scores change by d, a probability changes by at most d / 2.
    tolerance = TOLERANCE * max(1.0, size / 2)
    expect_close(theirs, ours, tolerance, f"{what}: other probabilities")


def check_rows_beside_the_graph(case: Case) -> None:
    """Require that new rows are scored independently and do not change scores of the graph's nodes.

    A method without support for new rows passes, too.
    """
    model, graph = case.after_sessions(), case.graph
    before = scores(model, graph)
    rows = [
        {
            "features": csr_array(graph.features([row])).toarray()[0].tolist(),
            "edges": [{"target": key} for key in graph.keys_of(graph.neighbours([row])[1])],
        }
        for row in range(0, 40, 8)
    ]
    try:
        together = model.predict_table(graph, rows=rows)
    except NotSupportedError:
        return
    alone = np.concatenate([model.predict_table(graph, rows=[row]).probability for row in rows])
    expect_close(together.probability, alone, 1e-5, "a row's prediction depends on other rows")
    expect(np.array_equal(scores(model, graph), before), "rows changed scores of the graph's nodes")
