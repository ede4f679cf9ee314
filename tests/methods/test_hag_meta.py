from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.evaluation.checks import (
    check_independent_of_query_labels,
    check_independent_of_unseen_classes,
)
from nodegraft.evaluation.protocol import evaluate
from nodegraft.graph.labels import NodeLabels
from nodegraft.methods.hag_meta import HAGMeta
from nodegraft.methods.neural.meta_training import leave_one_out
from nodegraft.model.method import Method
from tests.contract.streams import quick, small_stream
from tests.methods.tuning import many_sessions


def last_scores(**parameters: Any) -> NDArray[np.float64]:
    stream = small_stream()
    model = quick("hag-meta", **parameters)
    evaluate(model, stream)
    last = stream.session(len(stream) - 1)
    return model.score_rows(last.view, last.query.rows())


@pytest.mark.parametrize(
    "switch", [{"gpil": False}, {"nla": False}, {"tla": "off", "tla_scale": "literal"}]
)
def test_every_switch_of_the_ablation_does_something(switch: dict[str, Any]) -> None:
    common = {"tla_scale": "classes", "episodes": 10}
    assert not np.allclose(last_scores(**common), last_scores(**common | switch))


def test_a_users_plain_labels_are_enough() -> None:
    stream = small_stream()
    model = HAGMeta(episodes=5, max_epochs=5).fit(stream._graph, stream.split.train)
    assert model.classes_ == stream.split.train.classes


@pytest.mark.parametrize(("adapt", "count"), [("none", 200), ("support", 20)])
def test_many_sessions_of_changing_size_stay_finite(adapt: str, count: int) -> None:
    graph, known, sessions = many_sessions(count)
    model = quick("hag-meta", adapt=adapt, adapt_steps=1, base_shots=3).fit(graph, known)
    for support in sessions:
        model.add_classes(graph, support)
    assert np.isfinite(model.score_rows(graph, np.arange(graph.num_nodes))).all()


def test_adapting_moves_the_encoder_and_stays_honest() -> None:
    def make() -> Method:
        return quick("hag-meta", adapt_steps=2)

    stream = small_stream()
    assert not np.allclose(last_scores(adapt="none"), last_scores(adapt_steps=2))
    check_independent_of_query_labels(make, stream)
    check_independent_of_unseen_classes(make, stream, last=1)


def test_adapting_on_single_supports_is_skipped_not_broken() -> None:
    stream = small_stream()
    model = quick("hag-meta", base_shots=1)
    model.fit(stream._graph, stream.split.train).add_classes(stream._graph, {"new": [1]})
    assert np.isfinite(model.score_rows(stream._graph, np.arange(9))).all()


def test_leave_one_out_asks_one_node_of_each_class_that_has_two() -> None:
    task = NodeLabels({"many": [1, 2, 3], "one": [7]})
    episode = leave_one_out([task], np.random.default_rng(0))
    assert episode.query.classes == ("many",)
    assert {name: rows.size for name, rows in episode.tasks[0].items()} == {"many": 2, "one": 1}
    assert not np.isin(episode.query.rows(), episode.tasks[0].rows()).any()


def test_attention_tells_the_weight_of_supports_and_tasks() -> None:
    stream = small_stream()
    graph, split = stream._graph, stream.split
    model = quick("hag-meta").fit(graph, split.train)
    assert isinstance(model, HAGMeta)
    for index in (1, 2):
        model.add_classes(graph, split.support.select(stream.split.arriving(index)))
    told = model.attention(graph)
    assert set(told.nodes) == {*stream.split.arriving(1), *stream.split.arriving(2)}
    for name, weights in told.nodes.items():
        assert list(weights) == graph.keys_of(split.support[name])
        assert sum(weights.values()) == pytest.approx(1.0)
    assert [names for names, _ in told.tasks] == [
        split.known,
        stream.split.arriving(1),
        stream.split.arriving(2),
    ]
    assert sum(weight for _, weight in told.tasks) == pytest.approx(1.0)


def test_a_last_relu_leaves_no_negative_embedding() -> None:
    stream = small_stream()
    for last_relu in (True, False):
        model = quick("hag-meta", last_relu=last_relu).fit(stream._graph, stream.split.train)
        vectors = model.embed(stream._graph, list(range(50)))
        assert (vectors.min() >= 0) == last_relu


def test_an_attention_switched_off_weighs_all_alike() -> None:
    stream = small_stream()
    model = quick("hag-meta", nla=False, tla="off").fit(stream._graph, stream.split.train)
    assert isinstance(model, HAGMeta)
    rows = stream.split.members[stream.split.novel[0]]
    model.add_classes(stream._graph, NodeLabels({"four": rows[:4], "two": rows[4:6]}))
    told = model.attention(stream._graph)
    assert set(told.nodes["four"].values()) == {0.25}
    assert set(told.nodes["two"].values()) == {0.5}
    assert [weight for _, weight in told.tasks] == [0.5, 0.5]


def test_attention_along_the_class_axis_does_not_adapt() -> None:
    evaluate(quick("hag-meta", tla="class-axis", adapt="none"), small_stream())
    with pytest.raises(ParameterError, match="set adapt='none', or tla='set'"):
        evaluate(quick("hag-meta", tla="class-axis"), small_stream())
