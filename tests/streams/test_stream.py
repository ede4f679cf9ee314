from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base.errors import HiddenNodeError, ParameterError
from nodegraft.base.seeds import Seeds
from nodegraft.evaluation.checks import labelled_rows_within_reach
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.arrival import ARRIVALS, Arrival
from nodegraft.streams.curriculum import Curriculum
from nodegraft.streams.setting import Setting
from nodegraft.streams.split import ClassSplit
from nodegraft.streams.stream import ClassStream

SETTING = Setting(base=2, pseudo_novel=1, validation=3, novel=5, ways=2, shots=3)
LABELS = NodeLabels({f"c{i:02d}": np.arange(i, 120, 12) for i in range(12)})
GRAPH = Graph(range(125), np.ones((125, 1)), [(row, row + 1) for row in range(124)])


def stream(arrival: Arrival = "with-class", **changes: int) -> ClassStream:
    split = ClassSplit.draw(LABELS, replace(SETTING, **changes), seed=0)
    return ClassStream(GRAPH, split, arrival=arrival)


def drawn(graph: Graph, labels: NodeLabels, seed: int = 0) -> ClassStream:
    return ClassStream.draw(graph, labels, SETTING, seed=seed)


def by_user_key(stream: ClassStream, labels: NodeLabels) -> dict[str, set[Key]]:
    return {name: set(stream.user_keys(rows)) for name, rows in labels.items()}


def test_the_order_of_rows_in_the_raw_graph_changes_nothing() -> None:
    one = drawn(GRAPH, LABELS)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(GRAPH.num_nodes)
        place = np.argsort(order)
        other = drawn(
            Graph(order, GRAPH.features(order), np.stack(GRAPH.edges(), axis=1)),
            NodeLabels({name: place[rows] for name, rows in LABELS.items()}),
        )
        assert other.split.content_hash == one.split.content_hash
        for here, there in zip(one, other, strict=True):
            assert np.array_equal(here.view.rows, there.view.rows)
            assert here.view.neighbours(here.view.rows)[1].tolist() == (
                there.view.neighbours(there.view.rows)[1].tolist()
            )


def test_nodes_are_anonymous_and_the_stream_translates() -> None:
    one, other = drawn(GRAPH, LABELS), drawn(GRAPH, LABELS, seed=1)
    view = one.session(0).view
    assert view.keys_of(view.rows) == view.rows.tolist()
    for name, keys in by_user_key(one, one.split.members).items():
        assert keys == set(GRAPH.keys_of(LABELS[name]))
    every = np.arange(GRAPH.num_nodes)
    assert one.user_keys(every) != other.user_keys(every)
    # Neighbouring rows share their class as often as any two nodes do.
    owner = np.full(GRAPH.num_nodes, -1)
    for number, rows in enumerate(one.split.members.values()):
        owner[rows] = number
    assert np.mean(owner[1:] == owner[:-1]) < 0.2


def test_edges_and_features_stay_with_their_nodes() -> None:
    graph = Graph(GRAPH.keys_of(GRAPH.rows), np.arange(125.0)[:, None], np.stack(GRAPH.edges(), 1))
    view = drawn(graph, LABELS).session(0).view
    keys = np.array(drawn(graph, LABELS).user_keys(np.arange(125)))
    assert np.array_equal(view.features(view.rows)[:, 0], keys[view.rows])
    counts, neighbours = view.neighbours(view.rows)
    apart = np.abs(keys[np.repeat(view.rows, counts)] - keys[neighbours])
    assert apart.tolist() == [1] * apart.size


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_nothing_a_method_is_given_leads_to_a_label_that_does_not_teach(arrival: Arrival) -> None:
    stream = ClassStream.draw(GRAPH, LABELS, SETTING, arrival=arrival)
    split, curriculum = stream.split, stream.curriculum
    practised = np.concatenate(
        (split.train.rows(), split.held_out.rows(), split.members.select(split.validation).rows())
    )
    for session in stream:
        given = (session.view, session.support, curriculum)
        reached = labelled_rows_within_reach(*given)
        taught = (
            split.support.select(split.arriving(session.index)) if session.index else split.train
        )
        assert np.isin(taught.rows(), reached).all()
        assert np.isin(reached, np.concatenate((practised, taught.rows()))).all()


def test_the_walk_finds_labels_behind_bound_methods_closures_and_generators() -> None:
    stream = ClassStream.draw(GRAPH, LABELS, SETTING)
    secret = stream.split.test
    running = (session for session in stream)
    next(running)
    for hidden in (stream.session, lambda: secret, running, {"a": [stream.split]}):
        assert np.isin(secret.rows(), labelled_rows_within_reach(hidden)).all()


@pytest.mark.parametrize(
    ("novel", "ways", "sizes"),
    [(5, 2, [3, 2, 2, 1]), (4, 2, [3, 2, 2]), (5, 9, [3, 5]), (0, 2, [3]), (3, 1, [3, 1, 1, 1])],
)
def test_classes_arrive_a_few_at_a_time(novel: int, ways: int, sizes: list[int]) -> None:
    sessions = stream(novel=novel, ways=ways)
    assert len(sessions) == len(list(sessions)) == len(sizes)
    arriving = [sessions.split.arriving(index) for index in range(len(sessions))]
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


def test_present_shows_all_from_the_start_but_validation_classes() -> None:
    present, arriving = list(stream("present")), list(stream())
    absent = stream().split.members.select(stream().split.validation).rows()
    for one, other in zip(present, arriving, strict=True):
        assert np.array_equal(one.view.rows, np.setdiff1d(GRAPH.rows, absent))
        assert (one.support, one.query) == (other.support, other.query)


def test_isolated_has_no_edges_between_sessions() -> None:
    isolated, joined = stream("isolated"), stream()
    owner = {
        int(row): index
        for index in range(len(joined))
        for name in joined.split.arriving(index)
        for row in joined.split.members[name]
    }
    for one, other in zip(isolated, joined, strict=True):
        assert np.array_equal(one.view.rows, other.view.rows)
        wanted = [
            (row, neighbour)
            for row in other.view.rows.tolist()
            for neighbour in other.view.neighbours([row])[1].tolist()
            if owner[row] == owner[neighbour]
        ]
        counts, neighbours = one.view.neighbours(one.view.rows)
        found = list(zip(np.repeat(one.view.rows, counts), neighbours, strict=True))
        assert found == wanted
    assert isolated.session(3).view.num_edges < joined.session(3).view.num_edges


def test_growing_shows_half_of_the_queries_with_their_class_and_the_rest_in_equal_shares() -> None:
    sessions, split = list(stream("growing")), stream().split
    taught = np.concatenate((split.train.rows(), split.held_out.rows()))
    assert np.isin(taught, sessions[0].view.rows).all()
    last = len(sessions) - 1
    for name, rows in split.queried.items():
        arrives = next(index for index in range(last + 1) if name in split.arriving(index))
        visible = [int(np.isin(rows, one.view.rows).sum()) for one in sessions]
        assert visible[:arrives] == [0] * arrives
        assert visible[last] == rows.size
        if arrives < last:
            assert visible[arrives] == (rows.size + 1) // 2
            shares = np.diff(visible[arrives:])
            assert shares.max() - shares.min() <= 1
        if arrives:
            assert np.isin(split.support[name], sessions[arrives].view.rows).all()
    for session in sessions:
        assert np.isin(session.query.rows(), session.view.rows).all()
        assert all(rows.size for rows in session.query.values())
        seen = split.queried.select(session.query).rows()
        assert np.array_equal(
            np.sort(session.query.rows()), np.intersect1d(seen, session.view.rows)
        )


TEN_QUERIES = NodeLabels({f"c{i:02d}": np.arange(i, 156, 12) for i in range(12)})


@pytest.mark.parametrize(
    ("arrival", "counts", "of_supports"),
    [
        # Ten query nodes and three supports in equal shares over four sessions.
        ("mixed", {1: [3, 2, 3, 2], 3: [3, 2, 3, 2]}, {1: [1, 2], 2: [1, 1, 1]}),
        # z = ±0.126, ±0.385, ±0.674, ±1.036, ±1.645 for the queries and 0, ±0.967 for the supports;
        # twice these, added to the session of the class, rounded, and moved to 0 to 3.
        ("blurred", {1: [4, 2, 2, 2], 2: [2, 2, 2, 4], 3: [1, 1, 2, 6]}, {1: [1, 2], 2: [1, 0, 2]}),
    ],
)
def test_nodes_may_come_before_their_class(
    arrival: Arrival, counts: dict[int, list[int]], of_supports: dict[int, list[int]]
) -> None:
    split = ClassSplit.draw(TEN_QUERIES, SETTING, seed=0)
    graph = Graph(range(156), np.ones((156, 1)), [(0, 1)])
    sessions = list(ClassStream(graph, split, arrival=arrival))

    def appearing(rows: NDArray[np.int64]) -> list[int]:
        visible = [int(np.isin(rows, one.view.rows).sum()) for one in sessions]
        return np.diff(visible, prepend=0).tolist()

    for index, expected in counts.items():
        for name in split.arriving(index):
            assert appearing(split.queried[name]) == expected
    for index, expected in of_supports.items():
        for name in split.arriving(index):
            assert appearing(split.support[name])[: index + 1] == expected
    for session in sessions:
        assert session.query.classes == split.known + split.novel[: 2 * session.index]
        assert all(rows.size for rows in session.query.values())
        assert np.isin(session.query.rows(), session.view.rows).all()
        assert np.isin(session.support.rows(), session.view.rows).all()
        assert not np.isin(split.members.select(split.validation).rows(), session.view.rows).any()
    assert np.isin(split.held_out.rows(), sessions[0].view.rows).all()
    assert sessions[-1].query == split.queried


def test_another_arrival_is_refused() -> None:
    with pytest.raises(ParameterError, match="'with-class', 'isolated', not 'late'"):
        stream("late")  # type: ignore[arg-type]


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_a_rehearsal_never_meets_a_test_or_novel_node(arrival: Arrival) -> None:
    split = stream().split
    rehearsal = stream(arrival).rehearsal()
    assert rehearsal.arrival == arrival
    assert [rehearsal.split.arriving(i) for i in range(3)] == [
        split.known,
        split.validation[:2],
        split.validation[2:],
    ]
    forbidden = np.concatenate((split.test.rows(), split.members.select(split.novel).rows()))
    for session in rehearsal:
        used = np.concatenate((session.support.rows(), session.query.rows()))
        assert not np.isin(forbidden, used).any()
        shown = np.concatenate(
            (stream(arrival).session(0).view.rows, split.members.select(split.validation).rows())
        )
        assert np.isin(session.view.rows, shown).all()
    last = rehearsal.session(2)
    assert last.query == rehearsal.split.test | split.query.select(split.validation)
    assert last.support == split.support.select(split.validation[2:])


@pytest.mark.parametrize("arrival", ARRIVALS)
def test_half_of_the_held_out_nodes_are_asked_in_a_rehearsal(arrival: Arrival) -> None:
    split, rehearsal = stream().split, stream(arrival).rehearsal()
    for name, rows in split.held_out.items():
        asked, kept = rehearsal.split.test[name], rehearsal.curriculum.held_out[name]
        assert sorted([*asked, *kept]) == sorted(rows)
        assert 0 <= asked.size - kept.size <= 1
        # What stays held out is there from the start: training may stop early by it.
        assert np.isin(kept, rehearsal.session(0).view.rows).all()


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
    told, wanted = list(rehearse), list(stream().rehearsal())
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
