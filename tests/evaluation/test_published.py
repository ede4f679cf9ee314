from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from nodegraft.base.errors import NotSupportedError, ParameterError
from nodegraft.evaluation.published import (
    PUBLISHED,
    QUERIES,
    Ingredients,
    evaluate_published,
)
from nodegraft.lab.benchmark.job import Job
from nodegraft.lab.datasets.synthetic import Synthetic
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.model.hooks import Capability, PublishedLesson
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.stream import ClassStream
from tests.contract.streams import quick

LEAKY = [
    name for name in REGISTRY.names() if Capability.PUBLISHED in REGISTRY.get(name).capabilities()
]
NOTHING = Ingredients.without(Ingredients.names())


def hard_stream(seed: int = 0) -> ClassStream:
    loaded = Synthetic(nodes=1500, classes=15, homophily=0.5, signal=1.5).load()
    return loaded.stream(seed=seed, arrival="with-class")


def lessons(method: Method, ingredients: Ingredients) -> list[PublishedLesson]:
    """What a method is given in each session."""
    given: list[PublishedLesson] = []
    answer = method.scores_as_published

    def listened(lesson: PublishedLesson) -> Any:
        given.append(lesson)
        return answer(lesson)

    vars(method)["scores_as_published"] = listened
    evaluate_published(method, hard_stream(), ingredients=ingredients)
    return given


def test_the_prototype_methods_can_be_evaluated_as_published() -> None:
    assert {"proto-gcn", "sgc-mean", "hag-meta"} <= set(LEAKY)


@pytest.mark.parametrize("name", LEAKY)
def test_every_session_is_scored_with_all_ingredients_and_with_none(name: str) -> None:
    for chosen in (Ingredients(), NOTHING):
        result = evaluate_published(quick(name), hard_stream(), ingredients=chosen)
        assert len(result.sessions) == len(hard_stream())
        assert result.sessions[0].macro_accuracy > 1 / result.sessions[0].classes


def test_twenty_queries_a_class_are_drawn_by_seed() -> None:
    first = evaluate_published(quick("sgc-mean"), hard_stream())
    assert set(first.sessions[-1].queries_by_class.values()) == {QUERIES}
    again = evaluate_published(quick("sgc-mean"), hard_stream())
    assert [one.recall for one in first.sessions] == [one.recall for one in again.sessions]


def test_queries_may_have_taught_but_not_in_their_own_session() -> None:
    split = hard_stream().split
    taught = np.concatenate([split.train.rows(), split.support.rows()])
    for lesson in lessons(quick("sgc-mean"), Ingredients()):
        assert np.isin(lesson.query.select(split.known).rows(), taught).any()
        assert not np.isin(lesson.query.rows(), lesson.new.rows()).any()
    for lesson in lessons(quick("sgc-mean"), Ingredients(taught_queries=False)):
        assert not np.isin(lesson.query.rows(), taught).any()


def test_old_prototypes_are_of_all_nodes_and_new_ones_of_supports() -> None:
    split = hard_stream().split
    for index, lesson in enumerate(lessons(quick("sgc-mean"), Ingredients())):
        assert [task.classes for task in lesson.old] == [
            split.arriving(number) for number in range(max(index, 1))
        ]
        for task in lesson.old:
            for name, rows in task.items():
                assert np.array_equal(rows, np.sort(split.members[name]))
        assert lesson.new.classes == (split.arriving(index) if index else ())
        assert lesson.doubled.classes == lesson.new.classes
    honest = lessons(quick("sgc-mean"), Ingredients(all_nodes=False))
    taught = {name: set(rows.tolist()) for name, rows in (split.train | split.support).items()}
    for lesson in honest:
        for task in lesson.old:
            assert all(set(rows.tolist()) == taught[name] for name, rows in task.items())


def test_a_doubled_candidate_is_always_wrong() -> None:
    for lesson in lessons(quick("sgc-mean"), Ingredients())[1:]:
        assert lesson.columns.count("") == len(lesson.new)
        assert lesson.columns[-len(lesson.new) :] == lesson.new.classes
    with_both = evaluate_published(quick("sgc-mean"), hard_stream()).summary
    once = evaluate_published(
        quick("sgc-mean"), hard_stream(), ingredients=Ingredients(doubled=False)
    ).summary
    assert with_both["last_novel_accuracy"] < once["last_novel_accuracy"]


def test_a_step_reaches_later_sessions_and_not_its_own() -> None:
    plain = Ingredients(dropout=False)
    stepped = evaluate_published(quick("proto-gcn"), hard_stream(), ingredients=plain).sessions
    still = evaluate_published(
        quick("proto-gcn"), hard_stream(), ingredients=Ingredients(dropout=False, step=False)
    ).sessions
    assert stepped[0].recall == still[0].recall
    assert stepped[-1].recall != still[-1].recall
    after = evaluate_published(
        quick("proto-gcn"), hard_stream(), ingredients=Ingredients(dropout=False, before_step=False)
    ).sessions
    assert [one.recall for one in after] != [one.recall for one in stepped]


def test_degrees_of_the_full_graph_count_hidden_neighbours() -> None:
    view = hard_stream().session(0).view
    full = view.with_full_degrees()
    assert np.array_equal(full.rows, view.rows)
    one, other = (some.propagated(some.rows, 1)[1] for some in (view, full))
    assert abs(one - other).max() > 0
    assert (view.degrees(view.rows) <= full.degrees(full.rows)).all()
    assert view.degrees(view.rows).sum() < full.degrees(full.rows).sum()
    again = full.around(full.rows[:5], 1)[0]  # a part of it counts as the whole does
    assert again is not None


def test_what_is_dropped_is_drawn_by_seed() -> None:
    with_noise = [
        evaluate_published(quick("proto-gcn"), hard_stream()).sessions[-1].recall for _ in range(2)
    ]
    assert with_noise[0] == with_noise[1]
    without = evaluate_published(
        quick("proto-gcn"), hard_stream(), ingredients=Ingredients(dropout=False)
    )
    assert without.sessions[-1].recall != with_noise[0]


def test_its_name_carries_the_word_and_what_is_left_out() -> None:
    job = Job(
        dataset="synthetic", method="sgc-mean", protocol="published", without=("step", "doubled")
    )
    assert "leaky" in PUBLISHED
    assert job.protocol_name == f"{PUBLISHED}, without doubled step"


def test_an_ingredient_that_does_not_exist_is_named() -> None:
    with pytest.raises(ParameterError, match="has no ingredient 'sugar'; it has step"):
        Job(dataset="synthetic", method="sgc-mean", protocol="published", without=("sugar",))
    with pytest.raises(ParameterError, match="nothing to be left out"):
        Job(dataset="synthetic", method="sgc-mean", without=("step",))


def test_a_method_without_the_hook_is_refused() -> None:
    @dataclass(kw_only=True)
    class Honest(Method):
        name: ClassVar[str] = "honest"
        summary: ClassVar[str] = "cannot leak"

        def learn_base(self, *_: Any) -> None: ...
        def learn_classes(self, *_: Any) -> None: ...
        def score(self, view: Any, rows: Any) -> Any:
            return np.zeros((len(rows), len(self.classes_)))

    with pytest.raises(NotSupportedError, match="as published"):
        evaluate_published(Honest(), hard_stream())


def test_the_encoder_is_another_one_after_a_step() -> None:
    model = ProtoGCN(max_epochs=5)
    evaluate_published(model, hard_stream(), ingredients=Ingredients(step=False))
    still = {name: weight.clone() for name, weight in model.encoder_.items()}
    evaluate_published(model, hard_stream())
    assert any(not weight.equal(still[name]) for name, weight in model.encoder_.items())
