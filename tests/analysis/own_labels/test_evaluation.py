"""Which method is best on a store's own labels."""

from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot

from nodegraft.analysis.own_labels.evaluation import METHODS
from nodegraft.analysis.own_labels.own_stream import make_plan, own_stream
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import ParameterError, StoreError, UnknownNameError
from nodegraft.base.events import Listener
from nodegraft.evaluation.checks import (
    check_independent_of_query_labels,
    labelled_rows_within_reach,
)
from nodegraft.evaluation.protocol import evaluate
from nodegraft.model.registry import make_method
from nodegraft.store.intent import Intent
from nodegraft.store.store import Store
from nodegraft.streams.stream import ClassStream
from tests.store.small import made


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Four classes with 20 labels each, and two with five."""
    store, new = made(tmp_path_factory.mktemp("own") / "store")
    store.add(new, intent=Intent(override="tests"))
    return store


def test_evaluation_measures_the_class_tree(tmp_path: Path) -> None:
    store, _ = made(tmp_path / "store")
    assert "tree" not in store.evaluate(["graft"], seeds=1).to_json()["methods"][0]
    store.move({"class-00": "one", "class-01": "one", "class-02": "two", "class-03": "two"})
    found = store.evaluate(["graft", "sgc-mean"], seeds=2)
    for result in found.methods:
        tree = result.to_json()["tree"]
        correct = [stream.sessions[-1].micro_accuracy for stream in result.streams]
        assert tree["leaf_accuracy"]["mean"] == pytest.approx(np.mean(correct))
        assert tree["wrong_branch"]["mean"] <= 1.0 - tree["leaf_accuracy"]["mean"]
        assert tree["wrong_branch"]["seeds"] == 2
        if result.method == "graft":
            assert 0.0 <= tree["coverage"]["mean"] <= 1.0
        else:
            assert (tree["coverage"], tree["ancestor_accuracy"]) == (None, None)


def plan_of(state: State, shots: int = 5) -> ClassStream:
    plan = make_plan({name: len(one.all) for name, one in state.labels.items()}, shots)
    return own_stream(state, plan, seed=0)


class Heard(Listener):
    def __init__(self) -> None:
        self.stages: list[str] = []

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self.stages.append(f"{stage}: {done} of {total}")


def test_methods_are_measured_as_anybody_else_would_and_the_best_comes_first(store: Store) -> None:
    heard = Heard()
    before = store.history(), store.promotions()
    with Store.open(store.place, listener=heard) as opened:
        found = opened.evaluate(["text-only", "sgc-mean"], seeds=2)
    assert (store.history(), store.promotions()) == before
    assert [one.method for one in found.methods] == ["sgc-mean", "text-only"]
    stream = plan_of(store.state(found.version))
    ours = evaluate(make_method("sgc-mean", seed=0), stream)
    theirs = found.best.streams[0]
    assert [one.recall for one in theirs.sessions] == [one.recall for one in ours.sessions]
    assert "text-only, seed 2 of 2, session: 3 of 3" in heard.stages


def test_the_numbers_are_means_over_seeds(store: Store) -> None:
    found = store.evaluate(["text-only", "sgc-mean"], seeds=3)
    one = found.best
    firsts = [stream.sessions[0].macro_accuracy for stream in one.streams]
    lasts = [stream.sessions[-1].macro_accuracy for stream in one.streams]
    assert one.first.mean == pytest.approx(np.mean(firsts))
    assert one.last.mean == pytest.approx(np.mean(lasts))
    lost = (np.array(firsts) - lasts) / 2
    assert one.loss_per_class.mean == pytest.approx(lost.mean())
    assert one.loss_per_class.half_width == pytest.approx(4.303 * lost.std(ddof=1) / 3**0.5, 1e-3)
    assert found.lead is not None
    assert found.lead.mean == pytest.approx(one.last.mean - found.methods[1].last.mean)
    told = found.to_json()
    assert told["methods"][0]["last"]["mean"] == one.last.mean
    assert told["lead"]["seeds"] == 3
    table = found.to_arrow().to_pylist()
    assert [row["method"] for row in table] == [each.method for each in found.methods]
    assert all(0.0 <= row["last low"] <= row["last"] <= row["last high"] <= 1.0 for row in table)
    assert table[1]["behind best"] == pytest.approx(-found.lead.mean)
    axes = found.plot_sessions()
    assert axes.lines[0].get_ydata() == pytest.approx(
        [100 * np.mean([s.sessions[i].macro_accuracy for s in one.streams]) for i in range(3)]
    )
    pyplot.close("all")


@pytest.mark.parametrize("name", METHODS)
def test_nodes_that_are_asked_about_teach_nobody(name: str, store: Store) -> None:
    stream = plan_of(store.state(2))
    check_independent_of_query_labels(lambda: make_method(name), stream)


def test_no_label_that_is_asked_about_is_within_reach_of_a_method(store: Store) -> None:
    stream = plan_of(store.state(2))
    last = stream.session(len(stream) - 1)
    asked = np.concatenate([stream.split.queried.rows(), stream.split.query.rows()])
    given = [(one.view, one.support) for one in stream]
    reached = labelled_rows_within_reach(stream.curriculum, given)
    assert np.intersect1d(reached, asked).size == 0
    assert np.isin(last.query.rows(), asked).all()


def test_nodes_of_classes_left_out_are_in_the_graph_without_a_label(store: Store) -> None:
    state = store.state(2)
    stream = plan_of(state)
    assert stream.session(0).view.num_nodes == state.graph.num_nodes
    left = {key for name, one in state.labels.items() if len(one.all) < 10 for key in one.all}
    labelled = stream.user_keys(stream.split.members.rows())
    assert left
    assert left.isdisjoint(labelled)


def test_the_stores_own_method_keeps_its_parameters(tmp_path: Path) -> None:
    plain, _ = made(tmp_path / "plain")
    other, _ = made(tmp_path / "other", parameters={"hops": 0})
    one, two = (each.evaluate(["sgc-mean"], seeds=1).best for each in (plain, other))
    text = plain.evaluate(["text-only"], seeds=1).best
    assert two.last != one.last
    assert two.last.mean == pytest.approx(text.last.mean)


def test_classes_with_too_few_labels_are_left_out_and_named(store: Store) -> None:
    found = store.evaluate(["text-only"], seeds=1)
    assert list(found.plan.left_out.values()) == [5, 5]
    assert (found.plan.needed, len(found.plan.classes), found.lead) == (10, 4, None)
    assert store.evaluate(["text-only"], seeds=1, shots=2).plan.left_out == {}


def test_many_classes_arrive_in_few_sessions() -> None:
    setting = make_plan({str(number): 50 for number in range(41)}, shots=5).setting
    assert (setting.base, setting.novel, setting.ways) == (21, 20, 4)


def test_of_many_classes_left_out_some_are_named() -> None:
    plan = make_plan({f"c{number}": 50 if number < 4 else 9 for number in range(30)}, shots=5)
    assert "c23 (9) and 6 more. A class needs 10" in plan.exclusion()


def test_too_few_labels_for_any_stream_say_what_is_needed(store: Store, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"4 classes with 30 labels each.*has 0 such.*has 20"):
        store.evaluate(shots=15)
    fewer, _ = made(tmp_path / "store")
    fewer.remove(["class-00"], intent=Intent(override="tests"))
    with pytest.raises(StoreError, match=r"4 classes with 10 .* this version has 3"):
        fewer.evaluate()


def test_what_makes_no_sense_is_refused_before_the_work(store: Store) -> None:
    with pytest.raises(ParameterError, match="seeds"):
        store.evaluate(seeds=0)
    with pytest.raises(ParameterError, match="shots"):
        store.evaluate(shots=0)
    with pytest.raises(UnknownNameError, match="Did you mean 'graft'"):
        store.evaluate(["grft"])
    with pytest.raises(ParameterError, match="joint gets most labels"):
        store.evaluate(["graft", "joint"])
    with pytest.raises(ParameterError, match="list of methods"):
        store.evaluate("graft")
