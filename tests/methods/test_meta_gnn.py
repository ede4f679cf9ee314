import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.methods.meta_gnn import MetaGNN
from tests.contract.streams import quick, small_stream


def fitted(**parameters: object) -> MetaGNN:
    stream = small_stream()
    model = quick("meta-gnn", **parameters)
    assert isinstance(model, MetaGNN)
    return model.fit(stream.session(0).view, stream.curriculum)


def answers(model: MetaGNN) -> NDArray[np.float64]:
    graph = small_stream()._graph
    return model.score_rows(graph, np.arange(graph.num_nodes))


def test_every_session_starts_from_the_meta_learned_weights() -> None:
    stream = small_stream()
    graph, split = stream._graph, stream.split
    at_once, in_turn = fitted(), fitted()
    at_once.add_classes(graph, split.support.select(split.novel[:4]))
    for names in (split.novel[:2], split.novel[2:4]):
        in_turn.add_classes(graph, split.support.select(names))
    assert np.array_equal(answers(at_once), answers(in_turn))


def test_base_classes_keep_few_supports_and_new_ones_all() -> None:
    stream, model = small_stream(), fitted(base_shots=2)
    session = stream.session(1)
    model.add_classes(session.view, session.support)
    assert [len(rows) for rows in model.supports_.values()] == [2] * 5 + [3] * 2


def test_without_steps_nothing_is_preferred() -> None:
    scores = answers(fitted(test_steps=0))
    assert (scores == 0).all()


@pytest.mark.parametrize("other", [{"first_order": True}, {"inner_steps": 1}, {"episodes": 0}])
def test_every_part_of_the_inner_loop_matters(other: dict[str, object]) -> None:
    assert not np.allclose(answers(fitted()), answers(fitted(**other)))
