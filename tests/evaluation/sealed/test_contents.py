import numpy as np
import pytest

from nodegraft.base.errors import DataError
from nodegraft.evaluation.checks import small_stream
from nodegraft.evaluation.sealed.contents import Contents
from nodegraft.graph.edges.matrix import IntArray
from nodegraft.graph.graph import Graph
from nodegraft.graph.view import GraphView
from nodegraft.streams.arrival import ARRIVALS, Arrival
from nodegraft.streams.stream import ClassStream


def hidden_rows_are_empty(graph: GraphView, visible: IntArray) -> None:
    hidden = np.setdiff1d(graph.rows, visible)
    assert hidden.size
    assert not abs(graph.features(hidden)).sum()
    assert not graph.degrees(hidden).any()


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("arrival", ARRIVALS)
def test_only_what_is_visible_is_sent(sparse: bool, arrival: Arrival) -> None:
    stream = small_stream(sparse, arrival=arrival)
    session, contents = stream.session(1), Contents({}, {})
    contents.put_view(session.view)
    sent, view = contents.graph("graph"), contents.view()
    hidden_rows_are_empty(sent, session.view.rows)
    np.testing.assert_array_equal(view.rows, session.view.rows)
    np.testing.assert_array_equal(view.degrees(view.rows), session.view.degrees(view.rows))
    difference = view.features(view.rows) - session.view.features(view.rows)
    assert not abs(difference).sum()


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_a_curriculum_arrives_as_it_was_sent(arrival: Arrival) -> None:
    given, contents = small_stream(arrival=arrival).curriculum, Contents({}, {})
    contents.put_curriculum(given)
    curriculum = contents.curriculum()
    assert curriculum.train == given.train
    assert curriculum.held_out == given.held_out
    assert (curriculum.pseudo_novel, curriculum.shots) == (given.pseudo_novel, given.shots)
    assert given.rehearsal is not None
    assert curriculum.rehearsal is not None
    for one, other in zip(given.rehearsal, curriculum.rehearsal, strict=True):
        assert (one.support, one.query) == (other.support, other.query)
        np.testing.assert_array_equal(one.view.rows, other.view.rows)


@pytest.mark.parametrize("arrival", [one for one in ARRIVALS if one != "present"])
def test_the_graph_of_a_rehearsal_has_only_what_the_rehearsal_shows(arrival: Arrival) -> None:
    rehearsal = small_stream(arrival=arrival).curriculum.rehearsal
    assert rehearsal is not None
    hidden_rows_are_empty(rehearsal.graph, rehearsal[len(rehearsal) - 1].view.rows)


def test_keys_of_a_user_are_not_sent() -> None:
    stream = small_stream()
    graph = stream.session(0).view
    named = Graph([f"n{row}" for row in range(400)], np.ones((400, 1)))
    known = ClassStream(named, stream.split, arrival="present")
    with pytest.raises(DataError, match=r"ClassStream\.draw"):
        Contents({}, {}).put_view(known.session(0).view)
    Contents({}, {}).put_view(graph)
