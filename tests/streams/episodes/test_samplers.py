from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nodegraft.base.errors import ParameterError
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes.episode import Episode, nway_episodes
from nodegraft.streams.episodes.gpil import GPIL


def labels(sizes: list[int]) -> NodeLabels:
    ends = np.cumsum(sizes)
    return NodeLabels(
        {
            f"c{place}": np.arange(end - size, end)
            for place, (size, end) in enumerate(zip(sizes, ends, strict=True))
        }
    )


def same(first: Episode, second: Episode) -> bool:
    return [task.content_hash for task in (*first.tasks, first.query)] == [
        task.content_hash for task in (*second.tasks, second.query)
    ]


samplers = st.builds(
    lambda sizes, base, ways, shots, queries: GPIL(
        train=labels(sizes),
        pseudo_novel=tuple(f"c{place}" for place in range(base, len(sizes))),
        ways=min(ways, len(sizes) - base),
        shots=shots,
        queries=queries,
        base_shots=4,
    ),
    st.lists(st.integers(2, 30), min_size=4, max_size=12),
    st.integers(1, 3),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 6),
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(samplers, st.integers(0, 1000))
def test_gpil_keeps_its_promises(sampler: GPIL, seed: int) -> None:
    episodes = list(islice(sampler.episodes(np.random.default_rng(seed)), 8))
    rounds = len(sampler.pseudo_novel) // sampler.ways
    for number, episode in enumerate(episodes):
        place = number % rounds
        assert len(episode.tasks) == place + 2
        assert episode.tasks[0].classes == sampler.base
        assert episode.query.classes == episode.classes
        assert len(set(episode.classes)) == len(sampler.base) + (place + 1) * sampler.ways
        if place:
            earlier = episodes[number - 1].tasks[1:]
            assert [task.content_hash for task in episode.tasks[1:-1]] == [
                task.content_hash for task in earlier
            ]
        supports = np.concatenate([task.rows() for task in episode.tasks])
        assert not np.isin(episode.query.rows(), supports).any()
        for name, rows in episode.query.items():
            assert 1 <= rows.size <= sampler.queries
            assert np.isin(rows, sampler.train[name]).all()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(samplers, st.integers(0, 1000))
def test_same_seed_same_episodes(sampler: GPIL, seed: int) -> None:
    first, second = (
        list(islice(sampler.episodes(np.random.default_rng(seed)), 5)) for _ in range(2)
    )
    assert all(same(one, other) for one, other in zip(first, second, strict=True))


def test_a_round_starts_anew_when_fewer_than_n_are_left() -> None:
    sampler = GPIL(
        train=labels([9] * 8),
        pseudo_novel=tuple(f"c{place}" for place in range(3, 8)),
        ways=2,
        shots=3,
        queries=3,
    )
    episodes = islice(sampler.episodes(np.random.default_rng(0)), 5)
    assert [len(episode.classes) for episode in episodes] == [5, 7, 5, 7, 5]


def test_more_ways_than_pseudo_novel_classes_are_refused() -> None:
    with pytest.raises(ParameterError, match="3-way"):
        GPIL(train=labels([9] * 4), pseudo_novel=("c3",), ways=3, shots=1, queries=1)


def test_nway_tasks_are_of_the_size_asked_and_apart() -> None:
    tasks = nway_episodes(
        labels([20] * 6), ways=3, shots=4, queries=5, generator=np.random.default_rng(0)
    )
    for episode in islice(tasks, 20):
        (support,) = episode.tasks
        assert [rows.size for rows in support.values()] == [4, 4, 4]
        assert [rows.size for rows in episode.query.values()] == [5, 5, 5]
        assert not np.isin(episode.query.rows(), support.rows()).any()
