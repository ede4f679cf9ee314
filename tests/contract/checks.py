"""The proofs of no leak, as functions: they run over every method and must catch every cheat."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nodegraft.benchmark.protocol import evaluate
from nodegraft.graph.matrix import IntArray
from nodegraft.graph.stream import ClassStream
from nodegraft.graph.view import GraphView
from nodegraft.methods.base import Method
from tests.contract.streams import with_future_scrambled, with_query_labels_scrambled

Make = Callable[[], Method]
Scores = NDArray[np.float64]


def scores_in_evaluation(method: Method, stream: ClassStream) -> list[Scores]:
    """What the method answers in each session of a real evaluation, in the order of rows asked."""
    heard: list[Scores] = []
    answer = method.score_rows

    def listened(view: GraphView, rows: IntArray) -> Scores:
        heard.append(answer(view, rows))
        return heard[-1]

    vars(method)["score_rows"] = listened
    evaluate(method, stream)
    return heard


def check_blind_to_the_future(make: Make, stream: ClassStream, met: int) -> None:
    """Scrambling classes not met by session ``met`` changes no score up to it, bit for bit."""
    honest = scores_in_evaluation(make(), stream)
    damaged = scores_in_evaluation(make(), with_future_scrambled(stream, met))
    for index in range(met + 1):
        assert np.array_equal(honest[index], damaged[index]), f"session {index} saw the future"
    changed = [not np.array_equal(a, b) for a, b in zip(honest, damaged, strict=True)]
    assert any(changed), "the damage was not visible even when the classes arrived"


def check_blind_to_query_labels(make: Make, stream: ClassStream) -> None:
    """Scrambling all query labels changes no score, bit for bit."""
    honest = scores_in_evaluation(make(), stream)
    damaged = scores_in_evaluation(make(), with_query_labels_scrambled(stream))
    for index, (one, other) in enumerate(zip(honest, damaged, strict=True)):
        assert np.array_equal(one, other), f"session {index} saw query labels"


def check_blind_to_company(make: Make, stream: ClassStream) -> None:
    """A node's scores alone, in a batch and in a shuffled batch are equal (1e-6)."""
    method = make()
    evaluate(method, stream)
    last = stream.session(len(stream) - 1)
    rows = np.sort(last.query.rows())
    together = method.score_rows(last.view, rows)
    order = np.random.default_rng(3).permutation(rows.size)
    shuffled = method.score_rows(last.view, rows[order])
    np.testing.assert_allclose(shuffled, together[order], rtol=0, atol=1e-6)
    for place in order[:10]:
        alone = method.score_rows(last.view, rows[[place]])
        np.testing.assert_allclose(alone[0], together[place], rtol=1e-6, atol=1e-6)
