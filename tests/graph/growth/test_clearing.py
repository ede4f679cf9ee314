from itertools import count

import numpy as np
import pytest

from nodegraft.graph.graph import Graph
from nodegraft.graph.growth import clearing
from nodegraft.graph.growth.clearing import clear_stale
from nodegraft.graph.propagation import propagation
from tests.graph.blocks_of import in_memory, same_bits, wide_graph

EDGES = [(0, 150), (1, 200), (2, 250)]


def grown(graph: Graph) -> Graph:
    """One whose layers were made before it grew."""
    for _ in range(3):
        graph.propagated(graph.rows, 2)
    return graph.grow(edges=EDGES)


def test_slices_clear_what_one_pass_clears(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, sliced = grown(wide_graph()), grown(wide_graph())
    stale = whole.refresh(10**6)
    monkeypatch.setattr(clearing, "SLICE", 7)
    asked = count()
    cleared = clear_stale(sliced, until=lambda: next(asked) < 0)
    assert cleared.rows == stale > 70
    assert next(asked) >= stale / 7
    assert cleared.rate == cleared.rows / cleared.seconds > 0
    assert clear_stale(sliced).rate == 0.0
    for one, other in zip(in_memory(sliced, 2), in_memory(whole, 2), strict=True):
        assert same_bits(one, other)


def test_it_ends_when_somebody_comes_or_enough_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = grown(wide_graph())
    monkeypatch.setattr(clearing, "SLICE", 10)
    waiting = iter([False, False, True])
    assert clear_stale(graph, until=lambda: next(waiting)).rows == 20
    assert clear_stale(graph, most=25).rows == 30
    assert graph.refresh(10**6) > 0


def test_a_layer_that_keeps_no_more_rows_does_not_keep_it_going(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(propagation, "MOST_CACHED_NUMBERS", 7 * 110)
    graph = wide_graph(nodes=3000)
    graph.propagated(np.arange(110), 2)
    larger, slices = graph.grow(edges=EDGES), count()
    assert clear_stale(larger, until=lambda: next(slices) > 100).rows == 0
    assert next(slices) < 10


def test_clearing_is_no_reason_to_make_all_rows() -> None:
    graph = wide_graph(nodes=3000)
    graph.propagated(np.arange(5), 2)
    cleared = 0
    for turn in range(100):
        graph = graph.grow(edges=[(one, 150 + turn + one) for one in range(5)])
        cleared += clear_stale(graph).rows
    assert cleared > 3000
    (layers,) = graph._cache._propagated.values()
    assert layers._row_caches[1].num_missing(graph.rows) > 1000
