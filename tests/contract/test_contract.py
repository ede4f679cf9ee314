"""What every registered method must do; a new method gets these tests for free."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nodegraft.base.errors import (
    ClassNameError,
    DataError,
    HiddenNodeError,
    NotFittedError,
    NotSupportedError,
    UnknownNodeError,
)
from nodegraft.graph.graph import Graph
from nodegraft.graph.labels import Labelled
from nodegraft.graph.view import GraphView
from nodegraft.methods.base import REGISTRY, Method, load_model
from nodegraft.methods.hooks import Capability
from tests.contract.streams import quick, small_stream

pytestmark = pytest.mark.parametrize("name", REGISTRY.names())


def fitted(name: str) -> tuple[Method, Graph, Labelled]:
    """A model that knows five classes of a graph in which every node is visible."""
    stream = small_stream()
    model = quick(name).fit(stream._graph, stream.split.train)
    return model, stream._graph, stream.split.members


def taught(name: str) -> tuple[Method, Graph, Labelled]:
    """The same after sessions of 2 classes with 3 nodes, 1 with 1 and 3 with 7."""
    model, graph, members = fitted(name)
    fresh = [one for one in members if one not in model.classes_]
    for classes, shots in ((fresh[:2], 3), (fresh[2:3], 1), (fresh[3:6], 7)):
        model.add_classes(graph, Labelled({one: members[one][:shots] for one in classes}))
    return model, graph, members


def answers(model: Method, graph: Graph) -> NDArray[np.float64]:
    return model.score_rows(graph.whole, np.arange(graph.num_nodes))


def test_is_a_keyword_only_dataclass_that_does_no_work(name: str) -> None:
    cls = REGISTRY.get(name)
    assert dataclasses.is_dataclass(cls)
    assert all(field.kw_only for field in dataclasses.fields(cls))
    assert set(vars(cls())) == {field.name for field in dataclasses.fields(cls)}
    assert cls.summary
    assert "\n" not in cls.summary


def test_names_in_names_out_with_changing_ways_and_shots(name: str) -> None:
    model, graph, members = taught(name)
    assert len(model.classes_) == 11
    keys = graph.keys_of(members.rows()[:20])
    assert set(model.predict(graph, keys)) <= set(model.classes_)
    shares = model.predict_proba(graph, keys)
    assert shares.shape == (20, 11)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)


def test_learns_something(name: str) -> None:
    model, graph, members = fitted(name)
    known = members.only(model.classes_)
    predicted = model.predict(graph, graph.keys_of(known.rows()))
    truth = [one for one, rows in known.items() for _ in rows]
    assert np.mean(np.array(predicted) == np.array(truth)) > 0.5


def test_save_and_load_keep_every_bit_and_go_on(name: str, tmp_path: Path) -> None:
    model, graph, members = taught(name)
    model.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert type(loaded) is type(model)
    assert loaded.classes_ == model.classes_
    assert np.array_equal(answers(loaded, graph), answers(model, graph))
    last = [one for one in members if one not in model.classes_][:1]
    for one in (model, loaded):
        one.add_classes(graph, members.only(last))
    assert np.array_equal(answers(loaded, graph), answers(model, graph))
    files = sorted(path.name for path in (tmp_path / "model").iterdir())
    assert files == ["README.md", "arrays.safetensors", "document.json"]


def _numpy_global() -> str:
    return str(np.random.get_state())  # noqa: NPY002


def test_same_seed_same_scores_and_no_global_generator(name: str) -> None:
    torch_before, numpy_before = torch.get_rng_state(), _numpy_global()
    first, graph, _ = taught(name)
    second, _, _ = taught(name)
    assert np.array_equal(answers(first, graph), answers(second, graph))
    assert torch.equal(torch_before, torch.get_rng_state())
    assert numpy_before == _numpy_global()


def test_refuses_bad_input_and_stays_as_it_was(name: str) -> None:
    model, graph, members = fitted(name)
    before = answers(model, graph)
    known, new = model.classes_[0], next(one for one in members if one not in model.classes_)
    with pytest.raises(ClassNameError, match="already"):
        model.add_classes(graph, members.only([known]))
    with pytest.raises(ClassNameError, match="no nodes"):
        model.add_classes(graph, {new: []})
    with pytest.raises(UnknownNodeError, match="99999"):
        model.add_classes(graph, {new: [99999]})
    with pytest.raises(UnknownNodeError):
        model.predict(graph, ["a key of the wrong type"])
    with pytest.raises(ClassNameError, match="one class"):
        model.add_classes(graph, {new: [1], "other": [1]})
    hidden = GraphView(graph, members[known])
    with pytest.raises(HiddenNodeError):
        model.add_classes(hidden, members.only([new]))
    narrow = Graph(np.arange(3), np.eye(3))
    with pytest.raises(DataError, match="features"):
        model.predict(narrow, [0])
    assert np.array_equal(answers(model, graph), before)


def test_asks_to_be_fitted_first(name: str, tmp_path: Path) -> None:
    graph = small_stream()._graph
    for call in (
        lambda: quick(name).predict(graph, [0]),
        lambda: quick(name).add_classes(graph, {"new": [0]}),
        lambda: quick(name).save(tmp_path / "model"),
    ):
        with pytest.raises(NotFittedError, match="fit"):
            call()


def test_an_isolated_node_and_a_session_of_one_are_enough(name: str) -> None:
    model, graph, _ = fitted(name)
    grown = graph.grow([10_000], np.ones((1, graph.num_features)))
    model.add_classes(grown, {"loner": [10_000]})
    assert np.isfinite(answers(model, grown)).all()
    assert model.predict(grown, [10_000]) == ["loner"]


def test_added_reports_what_it_did(name: str) -> None:
    model, graph, members = fitted(name)
    new = [one for one in members if one not in model.classes_][:2]
    added = model.add_classes(graph, members.only(new))
    assert added.classes == tuple(new)
    assert added.session == 1
    assert added.kept_bytes == model.state().nbytes > 0


def test_capabilities_are_what_it_says(name: str) -> None:
    model, graph, _ = taught(name)
    if Capability.REMOVE in model.capabilities():
        before = answers(model, graph)
        gone = [model.classes_[6], model.classes_[1]]
        kept = [column for column, one in enumerate(model.classes_) if one not in gone]
        model.remove_classes(gone)
        np.testing.assert_array_equal(answers(model, graph), before[:, kept])
    else:
        with pytest.raises(NotSupportedError):
            model.remove_classes([model.classes_[0]])
    if Capability.MORE not in model.capabilities():
        with pytest.raises(NotSupportedError):
            model.add_labels(graph, {model.classes_[0]: [399]})
    if Capability.CALIBRATED in model.capabilities():
        answered = model.predict_or_refuse(graph, [3, 1], at_least=0.0)
        assert answered == model.predict(graph, [3, 1])
    else:
        with pytest.raises(NotSupportedError):
            model.predict_or_refuse(graph, [3, 1])
    if Capability.EMBED in model.capabilities():
        assert model.embed(graph, [3, 1]).shape[0] == 2
    else:
        with pytest.raises(NotSupportedError):
            model.embed(graph, [0])
    if Capability.EXPLAIN in model.capabilities():
        assert json.loads(json.dumps(model.explain(graph, 0)))
    else:
        with pytest.raises(NotSupportedError):
            model.explain(graph, 0)
