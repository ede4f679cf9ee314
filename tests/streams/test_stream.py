from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from nodegraft.base.errors import HiddenNodeError, ParameterError
from nodegraft.base.seeds import Seeds
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import Arrival, ClassStream

SETTING = Setting(base=2, pseudo_novel=1, validation=3, novel=5, ways=2, shots=3)
LABELS = NodeLabels({f"c{i:02d}": np.arange(i, 120, 12) for i in range(12)})
GRAPH = Graph(range(125), np.ones((125, 1)), [(row, row + 1) for row in range(124)])


def stream(arrival: Arrival = "with-class", **changes: int) -> ClassStream:
    split = ClassSplit.draw(LABELS, replace(SETTING, **changes), seed=0)
    return ClassStream(GRAPH, split, arrival=arrival)


@pytest.mark.parametrize(
    ("novel", "ways", "sizes"),
    [(5, 2, [3, 2, 2, 1]), (4, 2, [3, 2, 2]), (5, 9, [3, 5]), (0, 2, [3]), (3, 1, [3, 1, 1, 1])],
)
def test_classes_arrive_a_few_at_a_time(novel: int, ways: int, sizes: list[int]) -> None:
    sessions = stream(novel=novel, ways=ways)
    assert len(sessions) == len(list(sessions)) == len(sizes)
    arriving = [sessions.arriving(index) for index in range(len(sessions))]
    assert [len(names) for names in arriving] == sizes
    split = sessions.split
    assert sum(arriving, ()) == split.known + split.novel
    for session, names in zip(sessions, arriving, strict=True):
        assert session.support.classes == names


def test_support_teaches_the_new_and_query_asks_about_all_seen() -> None:
    sessions, split = list(stream()), stream().split
    assert sessions[0].support == split.train
    assert sessions[0].query == split.test
    for index, session in enumerate(sessions[1:], 1):
        assert session.index == index
        assert session.support == split.support.select(split.novel[2 * index - 2 : 2 * index])
        assert session.query == split.test | split.query.select(split.novel[: 2 * index])
        assert not np.isin(session.query.rows(), split.support.rows()).any()


def test_views_grow_and_hide_what_is_to_come() -> None:
    sessions, split = list(stream()), stream().split
    for before, after in pairwise(sessions):
        assert set(before.view.rows.tolist()) < set(after.view.rows.tolist())
    for session in sessions:
        seen = split.known + split.novel[: 2 * session.index]
        assert session.view.rows.tolist() == sorted(split.members.select(seen).rows())
        hidden = [name for name in split.members if name not in seen]
        for name in hidden:
            for row in split.members[name]:
                with pytest.raises(HiddenNodeError):
                    session.view.positions(np.array([row]))


def test_present_shows_all_from_the_start() -> None:
    present, arriving = list(stream("present")), list(stream())
    for one, other in zip(present, arriving, strict=True):
        assert one.view is GRAPH
        assert (one.support, one.query) == (other.support, other.query)


def test_another_arrival_is_refused() -> None:
    with pytest.raises(ParameterError, match="'with-class', 'present', not 'late'"):
        stream("late")  # type: ignore[arg-type]


@pytest.mark.parametrize("arrival", ["with-class", "present"])
def test_a_rehearsal_never_meets_a_test_or_novel_node(arrival: Arrival) -> None:
    split = stream().split
    rehearsal = stream(arrival).rehearsal()
    assert rehearsal.arrival == arrival
    assert [rehearsal.arriving(i) for i in range(3)] == [
        split.known,
        split.validation[:2],
        split.validation[2:],
    ]
    forbidden = np.concatenate((split.test.rows(), split.members.select(split.novel).rows()))
    for session in rehearsal:
        used = np.concatenate((session.support.rows(), session.query.rows()))
        assert not np.isin(forbidden, used).any()
        if arrival == "with-class":
            novel = split.members.select(split.novel).rows()
            assert not np.isin(novel, session.view.rows).any()
    assert rehearsal.session(0).query == split.held_out
    last = rehearsal.session(2)
    assert last.query == split.held_out | split.query.select(split.validation)
    assert last.support == split.support.select(split.validation[2:])


def test_validation_classes_do_not_exist_in_the_test_stream() -> None:
    split = stream().split
    rows = split.members.select(split.validation).rows()
    for session in stream():
        assert not np.isin(rows, session.view.rows).any()
        assert not set(split.validation) & {*session.support, *session.query}


def test_the_curriculum_is_what_may_be_learned_from() -> None:
    curriculum, split = stream().curriculum, stream().split
    assert (curriculum.train, curriculum.held_out) == (split.train, split.held_out)
    assert (curriculum.base, curriculum.pseudo_novel) == (split.base, split.pseudo_novel)
    assert stream().rehearsal().curriculum.rehearsal is None
    assert stream(validation=0).curriculum.rehearsal is None


def test_the_curriculum_rehearses_in_sessions() -> None:
    rehearse = stream().curriculum.rehearsal
    assert rehearse is not None
    told, wanted = list(rehearse()), list(stream().rehearsal())
    assert [one.support for one in told] == [one.support for one in wanted]
    assert [one.query for one in told] == [one.query for one in wanted]


def test_early_stopping_takes_the_base_classes_of_what_is_held_out() -> None:
    curriculum, split = stream().curriculum, stream().split
    train, held_out = curriculum.for_early_stopping(Seeds(0))
    assert train == split.train.select(split.base)
    assert held_out == split.held_out.select(split.base)


def test_early_stopping_carves_a_quarter_by_seed_where_nothing_is_held_out() -> None:
    labels = NodeLabels({"large": range(100), "four": range(100, 104), "two": [200, 201]})
    curriculum = Curriculum.from_labels(labels)
    train, held_out = curriculum.for_early_stopping(Seeds(0))
    assert [rows.size for rows in held_out.values()] == [25, 1, 0]
    for name, rows in labels.items():
        both = np.concatenate((train[name], held_out[name]))
        assert np.array_equal(np.sort(both), rows)
    assert curriculum.for_early_stopping(Seeds(0)) == (train, held_out)
    assert curriculum.for_early_stopping(Seeds(1)) != (train, held_out)
    assert replace(curriculum, pseudo_novel=("four",)).base == ("large", "two")


def test_a_stream_and_its_sessions_say_what_they_hold() -> None:
    assert repr(stream()) == (
        "ClassStream(4 sessions, 2/1/3/5 classes (base/pseudo-novel/validation/novel), "
        "2-way 3-shot, arrival 'with-class', seed 0)"
    )
    assert "6 labels of 2 new classes" in repr(stream().session(1))
