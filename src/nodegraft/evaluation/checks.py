"""Proofs that a method sees no label and no class it should not, for authors of methods.

They run over every method of this package, and must catch every planted cheat. The other rules are
in :mod:`nodegraft.model.checks`.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nodegraft.evaluation.damage import with_future_scrambled, with_query_labels_scrambled
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.view import GraphView
from nodegraft.model.contract.expect import expect, expect_close
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.arrival import ARRIVALS, Arrival
from nodegraft.streams.setting import Setting
from nodegraft.streams.stream import ClassStream

Make = Callable[[], Method]
Scores = NDArray[np.float64]

SETTING = Setting(base=3, pseudo_novel=2, validation=2, novel=6, ways=2, shots=3)


def small_stream(sparse: bool = True, seed: int = 0, arrival: Arrival = "growing") -> ClassStream:
    """13 classes, 400 nodes, four sessions.

    Args:
        sparse: Whether features are sparse.
        seed: Draws the split.
        arrival: Which nodes exist in a session.
    """
    graph, labels = BlockModel(nodes=400, classes=13, sparse=sparse, features=40).draw()
    return ClassStream.draw(graph, labels, SETTING, seed=seed, arrival=arrival)


def check_no_leaks(method: str | Make) -> list[str]:
    """Run all proofs over a method; the first that fails is an error that says what was seen.

    Args:
        method: Its name, or what makes it (a class, or a function with parameters of your choice).

    Returns:
        What was proved.
    """
    make: Make = REGISTRY.get(method) if isinstance(method, str) else method
    for sparse in (True, False):
        stream = small_stream(sparse)
        for met in range(len(stream) - 1):
            check_independent_of_unseen_classes(make, stream, met)
        check_independent_of_other_queries(make, stream)
    for arrival in ARRIVALS:
        check_independent_of_query_labels(make, small_stream(arrival=arrival))
    return [
        "independent of unseen classes",
        "independent of query labels",
        "independent of other queries",
    ]


def scores_in_evaluation(method: Method, stream: ClassStream) -> list[Scores]:
    """What a method answers in each session of a real evaluation, in the order of rows asked.

    Args:
        method: A method, not yet taught.
        stream: The stream it is taught.
    """
    heard: list[Scores] = []
    answer = method.score_rows

    def listened(view: GraphView, rows: IntArray) -> Scores:
        heard.append(answer(view, rows))
        return heard[-1]

    vars(method)["score_rows"] = listened
    evaluate(method, stream)
    return heard


def check_independent_of_unseen_classes(make: Make, stream: ClassStream, met: int) -> None:
    """Scrambling classes that have not arrived changes no score before they do, bit for bit.

    Args:
        make: Makes the method.
        stream: The stream it is taught.
        met: The session after which everything is scrambled.
    """
    honest = scores_in_evaluation(make(), stream)
    damaged = scores_in_evaluation(make(), with_future_scrambled(stream, met))
    for index in range(met + 1):
        same = np.array_equal(honest[index], damaged[index])
        expect(same, f"session {index} saw the future")
    changed = [not np.array_equal(a, b) for a, b in zip(honest, damaged, strict=True)]
    expect(any(changed), "the damage was not visible even when the classes arrived")


def check_independent_of_query_labels(make: Make, stream: ClassStream) -> None:
    """Scrambling all query labels changes no score, bit for bit.

    Args:
        make: Makes the method.
        stream: The stream it is taught.
    """
    honest = scores_in_evaluation(make(), stream)
    damaged = scores_in_evaluation(make(), with_query_labels_scrambled(stream))
    for index, (one, other) in enumerate(zip(honest, damaged, strict=True)):
        expect(np.array_equal(one, other), f"session {index} saw query labels")


def check_independent_of_other_queries(make: Make, stream: ClassStream) -> None:
    """A node's scores alone, in a batch and in a shuffled batch are equal (1e-6).

    Args:
        make: Makes the method.
        stream: The stream it is taught.
    """
    method = make()
    evaluate(method, stream)
    last = stream.session(len(stream) - 1)
    rows = np.sort(last.query.rows())
    together = method.score_rows(last.view, rows)
    order = np.random.default_rng(3).permutation(rows.size)
    shuffled = method.score_rows(last.view, rows[order])
    expect_close(shuffled, together[order], 1e-6, "scores depend on the order of nodes")
    for place in order[:10]:
        alone = method.score_rows(last.view, rows[[place]])
        tolerance = 1e-6 * (1.0 + float(np.abs(together[place]).max()))
        expect_close(alone[0], together[place], tolerance, "scores depend on the batch of a node")
