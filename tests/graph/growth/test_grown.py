"""An adjacency whose changed rows lie apart answers like one made of all edges."""

import numpy as np
import pytest

from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.edges.entries import IN, OUT, Entries, both_ways, compressed
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.growth import grown
from nodegraft.graph.growth.growing import with_new_edges
from nodegraft.graph.growth.grown import GrownAdjacency, with_edges
from tests.graph.reference import dense, random_edges, weights_in

forms = pytest.mark.parametrize(
    ("weighted", "directed"), [(False, False), (True, False), (False, True), (True, True)]
)


def told(ends: IntArray, weighted: bool, directed: bool) -> Entries:
    source, target = ends[0], ends[1]
    weights = (1.0 + (source * 7 + target) % 5).astype(np.float32) if weighted else None
    return both_ways(source, target, weights, np.full(source.size, OUT) if directed else None)


def grown_twice(weighted: bool, directed: bool) -> tuple[Adjacency, Adjacency, Adjacency]:
    """Before, after two growths, and the same made at once."""
    parts = [random_edges(40, 60, 0), random_edges(45, 8, 1), random_edges(52, 8, 2)]
    entries = [told(part, weighted, directed) for part in parts]
    first = Adjacency(*compressed(entries[0], 40))
    now = with_edges(first, entries[1], 43)
    assert now is not None
    now = with_edges(now, entries[2], 50)
    assert now is not None
    both = told(np.concatenate(parts, axis=1), weighted, directed)
    whole = Adjacency(*compressed(both, 50))
    return first, now, whole


@forms
def test_every_question_has_the_answer_of_the_whole(weighted: bool, directed: bool) -> None:
    first, now, whole = grown_twice(weighted, directed)
    assert isinstance(now, GrownAdjacency)
    assert now.base is first
    assert (now.num_nodes, now.num_edges) == (whole.num_nodes, whole.num_edges)
    some = np.array([49, 3, 0, 3, 41])
    for nodes in (np.arange(50), some, some[:0], np.setdiff1d(np.arange(40), now.nodes)):
        assert np.array_equal(now.degrees(nodes), whole.degrees(nodes))
        assert np.array_equal(now.weighted_degrees(nodes), whole.weighted_degrees(nodes))
        for ours, theirs in zip(
            now.weighted_neighbours(nodes), whole.weighted_neighbours(nodes), strict=True
        ):
            if ours is None or theirs is None:
                assert ours is theirs
            else:
                assert np.array_equal(ours, theirs)
        for direction in (OUT, IN):
            assert np.array_equal(
                dense(now.along(direction, nodes)), dense(whole.along(direction, nodes))
            )
    (matrix, near), (expected, beside) = now.hop(np.unique(some)), whole.hop(np.unique(some))
    assert np.array_equal(near, beside)
    assert np.array_equal(dense(matrix), dense(expected))
    assert "whole" not in vars(now)


@forms
def test_whole_arrays_are_made_when_somebody_asks(weighted: bool, directed: bool) -> None:
    _, now, whole = grown_twice(weighted, directed)
    for part in ("indptr", "indices", "weights", "directions"):
        ours, theirs = getattr(now, part), getattr(whole, part)
        assert (ours is None) == (theirs is None)
        assert theirs is None or (np.array_equal(ours, theirs) and ours.dtype == theirs.dtype)
    assert np.array_equal(dense(now.normalised), dense(whole.normalised))
    assert np.array_equal(now.edges(), whole.edges())
    assert now.widened(60).num_nodes == 60
    counted = now.counting_all().counted
    assert counted is not None
    assert np.array_equal(counted, whole.weighted_degrees())


def test_beyond_a_share_all_edge_types_are_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has hardly grown, too: either all have rows apart, or none has."""
    first, _, _ = grown_twice(False, False)
    kinds, new = {"one": first, "two": first}, {"one": told(random_edges(45, 8, 1), False, False)}
    apart = with_new_edges(kinds, new, 43)
    assert {type(kind) for kind in apart.values()} == {GrownAdjacency}
    monkeypatch.setattr(grown, "FEWEST_ENTRIES", 0)
    whole = with_new_edges(kinds, new, 43)
    assert {type(kind) for kind in whole.values()} == {Adjacency}
    for name in kinds:
        assert np.array_equal(apart[name].indices, whole[name].indices)


def test_only_rows_that_differ_have_changed() -> None:
    before = Adjacency.from_edges(np.array([0, 1]), np.array([1, 2]), 5)
    # Told again, a loop, and one that is new.
    now = with_edges(before, both_ways(np.array([1, 4, 3]), np.array([0, 4, 1])), 6)
    assert now is not None
    assert weights_in(now).sum() == 6


def test_a_heavier_edge_changes_its_ends() -> None:
    ends, weights = (np.array([0, 1]), np.array([1, 2])), np.array([2.0, 2.0], dtype=np.float32)
    before = Adjacency.from_edges(*ends, 3, weights=weights)
    now = with_edges(before, both_ways(*ends, np.array([1.0, 3.0], dtype=np.float32)), 3)
    assert now is not None
    assert now.weighted_neighbours(np.arange(3))[2].tolist() == [2.0, 2.0, 3.0, 3.0]  # type: ignore[union-attr]


def test_edges_of_another_form_are_not_patched_in() -> None:
    before = Adjacency.from_edges(np.array([0]), np.array([1]), 3)
    ends = np.array([1]), np.array([2])
    assert with_edges(before, both_ways(*ends, np.ones(1, dtype=np.float32)), 3) is None
    assert with_edges(before, both_ways(*ends, None, np.full(1, OUT)), 3) is None
