"""What a larger graph takes over, and what it leaves alone."""

import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nodegraft.graph.edges.relation import Relation
from nodegraft.graph.graph import Graph
from nodegraft.graph.growth import growing
from nodegraft.graph.growth.growing import GrownKeys, with_keys
from nodegraft.graph.keys import NodeKeys
from nodegraft.methods.graft import Graft
from tests.graph.reference import dense, everyone, random_graph, typed_graph

NEW = np.ones((1, 7))


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("typed", [False, True])
def test_a_graph_that_was_replaced_is_freed_at_once(typed: bool) -> None:
    graph = typed_graph(nodes=200) if typed else random_graph(nodes=200)
    model = Graft().fit(graph, {"a": [0, 1, 2], "b": [3, 4, 5]})
    model.predict(graph, [7])
    larger = graph.grow([1000], NEW, {graph.relations[0]: [(1000, 1)]})
    model.predict(larger, [1000])
    held: list[object] = [graph, graph._store, *graph._weighted_views.values()]
    gone = [weakref.ref(one) for one in held]
    held.clear()
    del graph
    assert [one() for one in gone] == [None] * len(gone)
    assert model.predict(larger, [1000])


def test_children_of_one_graph_do_not_meet() -> None:
    graph = random_graph(nodes=100)
    before = graph.propagated(everyone(graph), 2)
    for _ in range(3):
        graph.propagated(everyone(graph), 2)
    one, other = (graph.grow([name], NEW * name, [(name, 3)]) for name in (500, 600))
    for child, name in ((one, 500), (other, 600)):
        assert child.keys_of([100]) == [name]
        assert child.features([100])[0, 0] == name
        whole = Graph.from_parts(child.node_keys, child._features, child._adjacency)
        rows = everyone(child)
        for ours, theirs in zip(child.propagated(rows, 2), whole.propagated(rows, 2), strict=True):
            assert np.array_equal(dense(ours), dense(theirs))
    for ours, theirs in zip(graph.propagated(everyone(graph), 2), before, strict=True):
        assert np.array_equal(dense(ours), dense(theirs))


def test_growth_is_told_to_those_who_knew_an_earlier_graph() -> None:
    graph = random_graph(nodes=100)
    assert graph.num_edges
    child = graph.grow([500], NEW, [(500, 3)])
    grandchild = child.grow(edges=[(7, 8)])
    growth = grandchild.growth_since(graph)
    assert growth is not None
    assert {3, 7, 8, 100} >= set(growth.touched.tolist()) >= {3, 100}
    assert grandchild.growth_since(random_graph(nodes=100)) is None
    assert graph.growth_since(child) is None


@pytest.mark.parametrize(
    "edges",
    [
        {"other": [(500, 3)]},
        {"edges": Relation([(500, 3)], weights=[2.0])},
    ],
    ids=["a new kind", "weights where there were none"],
)
def test_what_changes_the_form_of_edges_starts_over(edges: dict[str, Any]) -> None:
    graph = random_graph(nodes=100)
    assert graph.num_edges
    child = graph.grow([500], NEW, edges)
    assert child.growth_since(graph) is None
    assert child.num_edges == graph.num_edges + 1


def test_where_much_is_touched_nothing_is_taken_over() -> None:
    graph = random_graph(nodes=100)
    assert graph.num_edges
    child = graph.grow(edges=[(0, row) for row in range(1, 30)])
    assert child.growth_since(graph) is None


@pytest.mark.parametrize("text", [False, True])
def test_keys_behind_others(monkeypatch: pytest.MonkeyPatch, text: bool) -> None:
    monkeypatch.setattr(growing, "FEWEST_KEYS", 3)
    names = [str(number) if text else number for number in (5, 3, 9, 1, 7, 8)]
    keys = NodeKeys(names[:2])
    for name in names[2:5]:
        keys = with_keys(keys, [name])
    assert isinstance(keys, GrownKeys)
    assert keys.find([*names, "?"]).tolist() == [0, 1, 2, 3, 4, -1, -1]
    assert keys.at([4, 0]) == [names[4], names[0]]
    assert keys.values().tolist() == names[:5]
    longer = with_keys(keys, names[5:])
    assert type(longer) is NodeKeys
    assert longer.at(range(6)) == names


def test_samples_of_a_grown_graph_are_those_of_the_whole() -> None:
    graph = random_graph(nodes=100)
    graph.sampled(5, np.array([], dtype=np.int64))
    assert graph.num_edges
    child = graph.grow([500], NEW, [(500, 3)])
    whole = Graph.from_parts(child.node_keys, child._features, child._adjacency)
    for count in (5, 60):
        nobody = np.array([], dtype=np.int64)
        assert child.sampled(count, nobody).tolist() == whole.sampled(count, nobody).tolist()
