import copy
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone

from nodegraft.base.errors import (
    CheckpointError,
    ClassNameError,
    DataError,
    NotFittedError,
    NotSupportedError,
    ParameterError,
    UnknownNameError,
)
from nodegraft.base.events import SILENT, Listener
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.graft import Graft
from nodegraft.methods.proto_gcn import ProtoGCN
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.hooks import Capability
from nodegraft.model.learned import learned
from nodegraft.model.method import Method
from nodegraft.model.registry import load_model, make_method
from nodegraft.streams.curriculum import Curriculum

GRAPH = Graph([f"n{row}" for row in range(20)], np.arange(20.0)[:, None])
BASE = {"low": ["n0", "n1"], "high": ["n18", "n19"]}


@dataclass(kw_only=True)
class Nearest(Method):
    """Minus the distance of the one feature to the class mean; breaks where it is told to."""

    wrong: str = ""
    asked: list[list[int]] = field(default_factory=list)
    means_: NDArray[np.float64] = learned()
    extra_: str = learned()
    added_later_: int = learned()

    name: ClassVar[str] = "nearest"
    summary: ClassVar[str] = "for tests"
    block_rows: ClassVar[int] = 4

    def means(self, view: GraphView, labels: NodeLabels) -> NDArray[np.float64]:
        found = [float(np.mean(view.features(rows))) for rows in labels.values()]
        return np.array(found)

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        self.means_ = self.means(view, curriculum.train)
        if self.wrong != "forgotten":
            self.extra_ = "base"
        self.added_later_ = 0
        if self.wrong == "learn":
            raise RuntimeError("midway")

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        self.means_ = np.concatenate((self.means_, self.means(view, support)))
        self.extra_ = "more"
        self.added_later_ = 1
        self.listener.step("learn", 1, 1)
        if self.wrong == "learn":
            raise RuntimeError("midway")
        if self.wrong == "state":
            self.extra_ = object()  # type: ignore[assignment]
        if self.wrong == "undeclared":
            self.surprise_ = 1

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[Any]:
        self.asked.append(rows.tolist())
        scores = -np.abs(np.asarray(view.features(rows)) - self.means_)
        if self.wrong == "nan":
            scores[-1, 0] = np.nan
        return {"narrow": scores[:, 1:], "short": scores[1:]}.get(self.wrong, scores)


def fitted() -> Nearest:
    return Nearest().fit(GRAPH, BASE)


def everything(model: Method) -> dict[str, Any]:
    return dict(vars(model))


@pytest.mark.parametrize(
    ("wrong", "error"),
    [("learn", RuntimeError), ("state", CheckpointError), ("undeclared", CheckpointError)],
)
def test_a_hook_that_fails_midway_leaves_the_model_as_it_was(
    wrong: str, error: type[Exception]
) -> None:
    model = fitted()
    model.wrong = wrong
    before = everything(model)
    with pytest.raises(error):
        model.add_classes(GRAPH, {"middle": ["n9"]})
    assert everything(model) == before
    assert model.classes_ == ("low", "high")
    model.wrong = ""
    assert model.add_classes(GRAPH, {"middle": ["n9"]}).session == 1
    assert model.predict(GRAPH, ["n10"]) == ["middle"]


def test_removing_without_the_ability_leaves_the_model_as_it_was() -> None:
    model = fitted()
    before = everything(model)
    with pytest.raises(NotSupportedError, match="nearest cannot remove a class"):
        model.remove_classes(["low"])
    assert everything(model) == before


def test_classes_are_renamed_without_a_fit() -> None:
    model = fitted()
    keys = GRAPH.keys_of(GRAPH.rows)
    scores, answers = model.score_rows(GRAPH, GRAPH.rows), model.predict(GRAPH, keys)
    model.rename_classes({"low": "high", "high": "top"})
    assert model.classes_ == tuple(model.labels_) == ("high", "top")
    assert model.labels_["high"].tolist() == BASE["low"]
    np.testing.assert_array_equal(model.score_rows(GRAPH, GRAPH.rows), scores)
    names = {"low": "high", "high": "top"}
    assert model.predict(GRAPH, keys) == [names[one] for one in answers]
    before = everything(model)
    for wrong in ({"low": "x"}, {"high": "top"}, {"high": ""}):
        with pytest.raises(ClassNameError):
            model.rename_classes(wrong)
    assert everything(model) == before


def test_fitting_again_forgets() -> None:
    model = fitted()
    model.add_classes(GRAPH, {"middle": ["n9"]})
    model.fit(GRAPH, {"odd": ["n1", "n3"]})
    assert model.classes_ == ("odd",)
    assert model.extra_ == "base"
    assert model.added_later_ == 0
    assert model.add_classes(GRAPH, {"middle": ["n9"]}).session == 1


def test_a_fit_that_fails_keeps_what_was_known() -> None:
    model = fitted()
    before = model.state()
    model.wrong = "learn"
    with pytest.raises(RuntimeError):
        model.fit(GRAPH, {"other": ["n3"]})
    assert model.classes_ == ("low", "high")
    assert model.state().document == before.document
    assert np.array_equal(model.state().arrays["means_"], before.arrays["means_"])


def test_a_first_fit_that_fails_leaves_nothing_half_learned(tmp_path: Path) -> None:
    model = Nearest(wrong="learn")
    with pytest.raises(RuntimeError):
        model.fit(GRAPH, BASE)
    assert not hasattr(model, "means_")
    with pytest.raises(NotFittedError, match="nearest model is not fitted"):
        model.save(tmp_path / "model")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("narrow", r"nearest gave scores of shape \(4, 1\) for 4 nodes and 2 classes"),
        ("short", r"nearest gave scores of shape \(3, 2\) for 4 nodes and 2 classes"),
        ("nan", "nearest gave scores that are NaN or infinite"),
    ],
)
def test_scores_that_are_none_are_refused(wrong: str, message: str) -> None:
    model = fitted()
    model.wrong = wrong
    with pytest.raises(DataError, match=message):
        model.predict(GRAPH, ["n0", "n1", "n2", "n3"])


def test_hooks_get_each_row_once_ascending_and_in_blocks() -> None:
    model = fitted()
    nodes = [f"n{row}" for row in (7, 3, 7, 19, 0, 1, 2)]
    names = model.predict(GRAPH, nodes)
    assert model.asked == [[0, 1, 2, 3], [7, 19]]
    assert names == ["low", "low", "low", "high", "low", "low", "low"]
    assert model.predict(GRAPH, []) == []
    assert model.predict_proba(GRAPH, []).shape == (0, 2)


def test_probabilities_follow_the_order_of_classes() -> None:
    shares = fitted().predict_proba(GRAPH, ["n19", "n0"])
    assert (shares.argmax(axis=1) == [1, 0]).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_hooks_tell_the_listener_of_the_call_and_of_no_other() -> None:
    class Heard(Listener):
        stages: ClassVar[list[str]] = []

        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            self.stages.append(stage)

    model = fitted()
    model.add_classes(GRAPH, {"middle": ["n9"]}, listener=Heard())
    model.add_classes(GRAPH, {"other": ["n5"]})
    assert Heard.stages == ["learn"]
    assert model.listener is SILENT


def test_what_is_not_overridden_is_no_capability() -> None:
    assert Nearest.capabilities() == frozenset()
    assert Capability.REMOVE_CLASSES in SGCMean.capabilities()
    for call in (lambda: fitted().embed(GRAPH, ["n0"]), lambda: fitted().explain(GRAPH, "n0")):
        with pytest.raises(NotSupportedError, match=r"model\.capabilities\(\) lists"):
            call()


def test_learning_is_counted_in_bytes_and_sessions() -> None:
    model = fitted()
    first = model.add_classes(GRAPH, {"a": ["n5"], "b": ["n7"]})
    second = model.add_classes(GRAPH, {"c": ["n12"]})
    assert (first.session, first.classes, second.session) == (1, ("a", "b"), 2)
    # A mean, and the label that made it, by key: "c", "n12" and where it ends.
    assert second.kept_bytes == model.state().nbytes
    assert 8 + 8 + 3 + 8 <= second.kept_bytes - first.kept_bytes <= 40
    assert first.seconds > 0


def test_a_model_is_loaded_by_its_own_method(tmp_path: Path) -> None:
    SGCMean(hops=1).fit(GRAPH, BASE).save(tmp_path / "model")
    assert SGCMean.load(tmp_path / "model").hops == 1
    assert isinstance(load_model(tmp_path / "model"), SGCMean)
    with pytest.raises(CheckpointError, match="holds a sgc-mean model, not proto-gcn"):
        ProtoGCN.load(tmp_path / "model")


def test_a_model_of_an_unknown_method_names_it(tmp_path: Path) -> None:
    fitted().save(tmp_path / "model")
    with pytest.raises(UnknownNameError, match="no method named 'nearest'"):
        load_model(tmp_path / "model")


def test_the_card_tells_what_was_learned_when(tmp_path: Path) -> None:
    model = fitted()
    model.add_classes(GRAPH, {"café|bar": ["n9"]})
    model.save(tmp_path / "model")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "| low | 0 | 2 |\n| high | 0 | 2 |\n| café\\|bar | 1 | 1 |" in card


def test_methods_are_made_by_name() -> None:
    assert make_method("sgc-mean", hops=3) == SGCMean(hops=3)
    with pytest.raises(ParameterError, match=r"no parameter 'hop'\. Did you mean 'hops'"):
        make_method("sgc-mean", hop=3)


def test_parameters_are_got_set_and_cloned_as_scikit_learn_does() -> None:
    model = SGCMean(hops=1).fit(GRAPH, BASE)
    assert model.get_params() == {"seed": 0, "hops": 1}
    fresh = clone(model)
    assert (fresh, fresh.classes_) == (SGCMean(hops=1), ())
    assert model.set_params(hops=1).classes_ == ("low", "high")
    assert model.set_params(hops=3) is model
    # What was learned with one hop would be read with three.
    assert (model.hops, model.classes_) == (3, ())
    with pytest.raises(ParameterError, match="no parameter 'hop'"):
        model.set_params(hop=3)
    with pytest.raises(ParameterError, match="hops must be"):
        model.set_params(hops=-1)
    assert model.hops == 3


def test_numbers_of_numpy_are_parameters_that_can_be_saved(tmp_path: Path) -> None:
    numbers: dict[str, Any] = {"hops": np.int64(1), "seed": np.int32(3)}
    model = SGCMean(**numbers).fit(GRAPH, BASE)
    assert [type(value) for value in model.get_params().values()] == [int, int]
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model") == model


@pytest.mark.parametrize("listener", [None, print])
def test_a_listener_that_is_none_is_refused(listener: Any) -> None:
    with pytest.raises(ParameterError, match="A listener is"):
        SGCMean().fit(GRAPH, BASE, listener=listener)


def test_a_listener_may_not_teach_the_model_it_watches() -> None:
    model = fitted()

    class Meddler(Listener):
        def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
            model.add_classes(GRAPH, {"other": ["n5"]})

    with pytest.raises(ParameterError, match="is learning"):
        model.add_classes(GRAPH, {"middle": ["n9"]}, listener=Meddler())
    model.add_classes(GRAPH, {"middle": ["n9"]})
    assert model.classes_ == ("low", "high", "middle")


@pytest.mark.parametrize("graph", ["x", None, {"a": 1}])
def test_what_is_no_graph_is_refused(graph: Any) -> None:
    taught = fitted()
    asked = (
        lambda: SGCMean().fit(graph, BASE),
        lambda: taught.add_classes(graph, BASE),
        lambda: taught.predict(graph, ["n0"]),
    )
    for ask in asked:
        with pytest.raises(ParameterError, match=r"nodegraft\.Graph or a view"):
            ask()


def test_a_pickled_model_does_not_carry_the_graph() -> None:
    model = Graft().fit(GRAPH, BASE)
    model.predict(GRAPH, ["n0"])
    found = model.labels_.__getstate__()["_cached_rows"]
    assert (model.labels_.on(GRAPH) is not None, found) == (True, None)


def test_what_is_declared_must_be_learned() -> None:
    model = Nearest(wrong="forgotten")
    with pytest.raises(CheckpointError, match="declares 'extra_' as learned and did not set it"):
        model.fit(GRAPH, BASE)


def test_a_parameter_set_by_hand_is_checked_at_the_latest_by_fit() -> None:
    model = SGCMean()
    model.hops = -1
    with pytest.raises(ParameterError, match="hops must be a whole number at least 0"):
        model.fit(GRAPH, BASE)


def test_a_model_says_what_it_holds() -> None:
    assert repr(SGCMean(hops=1)) == "SGCMean(hops=1)"
    model = fitted()
    model.add_classes(GRAPH, {"middle": ["n9"], "other": ["n5"]})
    told = "knows 4 classes (low, high, middle, …) from 6 labels, session 1"
    assert told in repr(model)


def test_labels_that_are_no_dict_are_refused() -> None:
    for labels in (["n0"], "low", None):
        with pytest.raises(ClassNameError, match="Labels are a dict"):
            fitted().add_classes(GRAPH, labels)


def test_one_writer_waits_for_another() -> None:
    """Of two that start from the same model one would be lost."""
    model = fitted()
    threads = [
        Thread(target=model.add_classes, args=(GRAPH, {f"c{place}": [f"n{place}"]}))
        for place in range(3, 16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(model.classes_) == 15
    assert [known.session for known in model._table.classes[2:]] == list(range(1, 14))


def test_copies_are_models_of_their_own() -> None:
    model = fitted()
    for other in (copy.copy(model), copy.deepcopy(model)):
        other.add_classes(GRAPH, {"middle": ["n9"]})
        assert len(model.classes_) == 2
        assert len(other.classes_) == 3
