import numpy as np
import pytest

from nodegraft.base.seeds import Seeds
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes import mixed
from nodegraft.streams.episodes.mixed import mixed_episodes, queried_nodes

TRAIN = NodeLabels({f"c{place}": range(10 * place, 10 * place + 6) for place in range(8)})
HELD_OUT = NodeLabels({f"c{place}": range(10 * place + 6, 10 * place + 9) for place in range(8)})


def test_increments_of_all_sizes() -> None:
    episodes = list(mixed_episodes(TRAIN, HELD_OUT, (1, 3), Seeds(0)))
    sizes = [(len(many), len(few)) for many, few in (one.tasks for one in episodes)]
    assert sizes == [(8, 0), *[(4, 4)] * 4, *[(4, 0), *[(2, 2)] * 4] * 2]
    shots = [{rows.size for rows in one.tasks[1].values()} for one in episodes[1:5]]
    assert shots == [{1}, {1}, {3}, {3}]


def test_every_class_is_new_as_often_as_known() -> None:
    first, second = list(mixed_episodes(TRAIN, HELD_OUT, (1,), Seeds(0)))[1:3]
    assert set(first.tasks[0]) == set(second.tasks[1])
    assert set(first.tasks[1]) == set(second.tasks[0])


def test_a_support_is_never_a_query() -> None:
    for episode in mixed_episodes(TRAIN, HELD_OUT, (1, 3), Seeds(0)):
        assert not np.isin(episode.query.rows(), episode.support.rows()).any()
        many, few = episode.tasks
        for name in many:
            assert set(episode.query[name]) == set(HELD_OUT[name].tolist())
        for name in few:
            assert episode.query[name].size == 9 - few[name].size


def test_unknown_nodes_are_of_classes_that_are_not_there() -> None:
    for episode in mixed_episodes(TRAIN, HELD_OUT, (1,), Seeds(0)):
        absent = [name for name in TRAIN if name not in episode.classes]
        everyone = (TRAIN | HELD_OUT).select(absent).rows()
        assert set(episode.unknown.tolist()) == set(everyone.tolist())


def test_too_few_classes_make_no_practice() -> None:
    held_out = HELD_OUT.select(["c0", "c1", "c2"])
    assert list(mixed_episodes(TRAIN, held_out, (1,), Seeds(0))) == []


def test_queries_are_a_bounded_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mixed, "MAX_QUERIES", 20)
    monkeypatch.setattr(mixed, "MAX_CLASSES", 5)
    episodes = list(mixed_episodes(TRAIN, HELD_OUT, (2,), Seeds(0)))
    assert queried_nodes(episodes).size <= 20
    assert len(episodes[0].classes) == 5
