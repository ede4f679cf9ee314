import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import OUT
from tests.graph.reference import (
    dense,
    joined,
    leading,
    normalised,
    stored,
    weighed,
    weights_in,
    within,
)
from tests.property.strategies import Edges, edges, some_of, thorough


@thorough
@given(edges(), st.data())
def test_neighbours_and_degrees(drawn: Edges, data: st.DataObject) -> None:
    adjacency, truth = Adjacency.from_edges(*drawn), joined(*drawn)
    nodes = data.draw(some_of(drawn[2]))
    counts, neighbours = adjacency.neighbours(nodes)
    assert counts.tolist() == truth[nodes].sum(axis=1).tolist()
    assert neighbours.tolist() == np.nonzero(truth[nodes])[1].tolist()
    assert adjacency.degrees(nodes).tolist() == counts.tolist()


@thorough
@given(edges(), st.data())
def test_induced(drawn: Edges, data: st.DataObject) -> None:
    nodes = data.draw(some_of(drawn[2]))
    part = Adjacency.from_edges(*drawn).induced(nodes)
    assert np.array_equal(stored(part), joined(*drawn)[np.ix_(nodes, nodes)])


@thorough
@given(edges(), st.data())
def test_hop(drawn: Edges, data: st.DataObject) -> None:
    adjacency, truth = Adjacency.from_edges(*drawn), joined(*drawn)
    targets = data.draw(some_of(drawn[2]))
    matrix, sources = adjacency.hop(targets)
    assert sources.tolist() == within(truth, targets, 1).tolist()
    expected = normalised(truth)[np.ix_(targets, sources)]
    np.testing.assert_allclose(dense(matrix), expected, atol=1e-6)


@thorough
@given(edges())
def test_edges_are_undirected_and_listed_once(drawn: Edges) -> None:
    adjacency = Adjacency.from_edges(*drawn)
    assert np.array_equal(stored(adjacency), joined(*drawn))
    source, target = adjacency.edges()
    assert list(zip(source, target, strict=True)) == list(
        zip(*np.nonzero(np.triu(joined(*drawn))), strict=True)
    )


@thorough
@given(edges(), st.data())
def test_weights_and_directions(drawn: Edges, data: st.DataObject) -> None:
    source, target, nodes = drawn
    several = st.lists(st.integers(1, 9), min_size=source.size, max_size=source.size)
    weights = np.array(data.draw(several), dtype=np.float32)
    adjacency = Adjacency.from_edges(*drawn, weights=weights, directions=np.full(source.size, OUT))
    heavy = weighed(source, target, weights, nodes)
    assert np.array_equal(weights_in(adjacency), heavy)
    some = data.draw(some_of(nodes))
    part = adjacency.induced(some)
    assert np.array_equal(weights_in(part), heavy[np.ix_(some, some)])
    leads = leading(source, target, nodes)
    assert np.array_equal(dense(part.along(OUT)), leads[np.ix_(some, some)])
    matrix, sources = adjacency.hop(some)
    expected = normalised(heavy)[np.ix_(some, sources)]
    np.testing.assert_allclose(dense(matrix), expected, atol=1e-6)
