"""Checks of names, parameters, errors, saving and capabilities of a method."""

import dataclasses
import json
from collections.abc import Callable
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import get_type_hints

import numpy as np
import torch

from nodegraft.base import errors
from nodegraft.base.parameters.build import build
from nodegraft.graph.graph import Graph
from nodegraft.model.contract.case import Case, expect, expect_close, must_raise, scores
from nodegraft.model.hooks import Capability
from nodegraft.model.learned import is_learned
from nodegraft.model.method import Method


def check_is_a_plain_dataclass(case: Case) -> None:
    """Require a dataclass whose fields are keyword-only parameters or learned attributes.

    ``__init__`` must not compute anything.
    """
    model = case.make()
    fields = dataclasses.fields(model)
    expect(all(field.kw_only for field in fields), "fields must be keyword-only")
    odd = [field.name for field in fields if is_learned(field) == field.init]
    expect(not odd, f"{odd} is neither a parameter nor declared by learned()")
    ends = [field.name for field in fields if is_learned(field) != field.name.endswith("_")]
    expect(not ends, f"names of learned attributes, and only those, end in _: {ends}")
    expect(set(vars(model)) == {field.name for field in fields if field.init}, "__init__ does work")
    expect(bool(model.summary) and "\n" not in model.summary, "summary must be one line")


def check_parameters_are_checked(case: Case) -> None:
    """Require that every number has a declared range, and that errors name the parameter."""
    model = case.make()
    kinds = get_type_hints(type(model), include_extras=True)
    without_range = [
        name for name in model.get_params() if kinds[name] in (int, float, int | None, float | None)
    ]
    expect(
        not without_range,
        f"{without_range} have no range: annotate them with PositiveInt, Fraction … of "
        "nodegraft.base.parameters.constraints",
    )
    for name in model.get_params():
        with must_raise(errors.ParameterError, f"{name} set to an object", name):
            build(type(model), {name: object()})
    again = build(type(model), model.get_params())
    expect(again.get_params() == model.get_params(), "get_params does not give the parameters")
    expect(again.set_params(seed=7).seed == 7, "set_params does not set")


def check_predicts_class_names(case: Case) -> None:
    """Require that predictions are names of known classes and agree with the probabilities.

    The check uses different numbers of new classes (N) and labels per class (K).
    """
    model = case.after_sessions()
    expect(model.classes_ == (*case.known, *case.fresh[:6]), "classes are not in the order learned")
    nodes = case.keys(case.known[0], 20)
    predicted = model.predict(case.graph, nodes)
    expect(set(predicted) <= set(model.classes_), "a prediction is not a known class")
    shares = model.predict_proba(case.graph, nodes)
    expect(shares.shape == (len(nodes), 11), f"probabilities have the shape {shares.shape}")
    expect_close(shares.sum(axis=1), np.ones(len(nodes)), 1e-6, "probabilities do not add up to 1")
    predicted_names = [model.classes_[column] for column in shares.argmax(axis=1)]
    expect(predicted_names == predicted, "predict and predict_proba disagree")


def check_learns_something(case: Case) -> None:
    """Require an accuracy above 50 % on the nodes of known classes."""
    model = case.fitted()
    truth = [name for name in case.known for _ in case.members[name]]
    nodes = [key for name in case.known for key in case.keys(name)]
    right = np.mean(np.array(model.predict(case.graph, nodes)) == np.array(truth))
    expect(
        right > 0.5, f"only {100 * right:.0f} % of nodes of known classes are predicted correctly"
    )


def check_saving_keeps_every_bit(case: Case) -> None:
    """Require that a loaded model predicts and learns exactly like the saved model."""
    model = case.after_sessions()
    with TemporaryDirectory() as folder:
        place = Path(folder, "model")
        model.save(place)
        loaded = type(model).load(place)
        files = sorted(path.name for path in place.iterdir())
    expect(files == ["README.md", "arrays.safetensors", "document.json"], f"saved as {files}")
    expect(loaded.classes_ == model.classes_, "a loaded model knows other classes")
    expect(loaded.get_params() == model.get_params(), "a loaded model has other parameters")
    for candidate in (model, loaded):
        expect(
            np.array_equal(
                scores(candidate, case.graph), scores(case.after_sessions(), case.graph)
            ),
            "a loaded model predicts differently",
        )
        candidate.add_classes(
            case.graph, {case.unused_classes[0]: case.keys(case.unused_classes[0])}
        )
    same = np.array_equal(scores(loaded, case.graph), scores(model, case.graph))
    expect(same, "a loaded model learns differently")


def check_is_deterministic(case: Case) -> None:
    """Require that equal seeds give equal scores, without any global random generator."""
    first = scores(case.after_sessions(), case.graph)
    torch_before, numpy_before = torch.get_rng_state(), _numpy_state()
    again = scores(case.teach(case.fit()), case.graph)
    expect(np.array_equal(first, again), "the same seed gave other scores")
    same = torch.equal(torch_before, torch.get_rng_state()) and numpy_before == _numpy_state()
    expect(same, "a global random generator was used")


def check_invalid_input_changes_nothing(case: Case) -> None:
    """Require that invalid input raises an error and does not change the model."""
    model, graph = case.fitted(), case.graph
    before = scores(model, graph)
    known, new = case.known[0], case.fresh[0]
    first, second = case.keys(new, 2)
    with must_raise(errors.ClassNameError, "a known class", "already"):
        model.add_classes(graph, {known: [first]})
    with must_raise(errors.ClassNameError, "a class without nodes", "no nodes"):
        model.add_classes(graph, {new: []})
    with must_raise(errors.UnknownNodeError, "a node that does not exist", "nobody"):
        model.add_classes(graph, {new: ["nobody"]})
    with must_raise(errors.UnknownNodeError, "a key of the wrong type"):
        model.predict(graph, [17])
    with must_raise(errors.ClassNameError, "a node in two classes of one call", "one class"):
        model.add_classes(graph, {new: [first], "other": [first]})
    with must_raise(errors.ClassNameError, "a node that labels another class", repr(known)):
        model.add_classes(graph, {new: [second, *case.keys(known, 1)]})
    for odd in (1, None, "", " "):
        with must_raise(errors.ClassNameError, f"{odd!r} as the name of a class", "text"):
            model.add_classes(graph, {odd: [first]})
    text = str(first)
    for call in (
        lambda: model.predict(graph, text),
        lambda: model.remove_classes(known),
        lambda: model.add_classes(graph, {new: text}),
    ):
        with must_raise(errors.ParameterError, "a text where a list is meant", "list"):
            call()
    with must_raise(errors.HiddenNodeError, "a node that is hidden"):
        model.add_classes(graph.view(case.members[known]), case.members.select([new]))
    with must_raise(errors.DataError, "a graph with other features", "features"):
        model.predict(Graph(["n0"], np.eye(1)), ["n0"])
    with must_raise(errors.DataError, "a graph with keys of another type", "text"):
        model.predict(Graph([0], graph.features([0])), [0])
    expect(np.array_equal(scores(model, graph), before), "a refusal changed the model")


def check_unfitted_raises(case: Case) -> None:
    """Require that calls before ``fit`` raise ``NotFittedError``."""
    with TemporaryDirectory() as folder:
        for call in (
            lambda: case.make().predict(case.graph, ["n0"]),
            lambda: case.make().add_classes(case.graph, {"new": ["n0"]}),
            lambda: case.make().save(Path(folder, "model")),
        ):
            with must_raise(errors.NotFittedError, "asking a model that knows nothing", "fit"):
                call()


def check_one_isolated_node_is_enough(case: Case) -> None:
    """Require that a class can be learned from one new node without edges."""
    model = case.fitted()
    grown = case.graph.grow(["loner"], np.ones((1, case.graph.num_features)))
    model.add_classes(grown, {"lonely": ["loner"]})
    expect(model.predict(grown, ["loner"]) == ["lonely"], "the only example is named otherwise")


def check_reports_what_it_did(case: Case) -> None:
    """Require that ``add_classes`` reports the classes, the session and the size of the state."""
    model, new = case.fitted(), case.fresh[:2]
    added = model.add_classes(case.graph, {name: case.keys(name, 3) for name in new})
    expect(added.classes == new, f"it says that {added.classes} were added")
    expect(added.session == 1, f"it says that this was session {added.session}")
    expect(added.kept_bytes == model.state().nbytes > 0, "it says something else is kept")


def check_changes_leave_earlier_states_alone(case: Case) -> None:
    """Require that changes do not modify arrays in place, so that earlier states remain valid."""
    earlier = case.fitted()
    before = {name: array.tobytes() for name, array in earlier.state().arrays.items()}
    model = case.teach(copy(earlier))
    if Capability.REMOVE_CLASSES in model.capabilities():
        model.remove_classes(model.classes_[-2:])
    after = {name: array.tobytes() for name, array in earlier.state().arrays.items()}
    changed = [name for name in before if before[name] != after[name]]
    expect(not changed, f"{changed} of an earlier state was written into")


def check_abilities_are_as_declared(case: Case) -> None:
    """Require that declared capabilities work, and that other capabilities raise an error."""
    model, graph = case.after_sessions(), case.graph
    abilities = model.capabilities()
    node, other, new = "n3", "n1", {case.fresh[0]: case.keys(case.fresh[0])[-1:]}
    calls: dict[Capability, Callable[[], object]] = {
        Capability.CALIBRATED: lambda: model.predict_or_abstain(graph, [node]),
        Capability.EMBED: lambda: model.embed(graph, [node]),
        Capability.EXPLAIN: lambda: model.explain(graph, node),
        Capability.ADD_LABELS: lambda: model.add_labels(graph, new),
        Capability.REMOVE_CLASSES: lambda: model.remove_classes([case.known[0]]),
    }
    for ability, call in calls.items():
        if ability not in abilities:
            with must_raise(errors.NotSupportedError, f"a call that needs {ability.name}"):
                call()
    if Capability.CALIBRATED in abilities:
        answered = model.predict_or_abstain(graph, [node, other], min_confidence=0.0)
        expect(answered == model.predict(graph, [node, other]), "it abstains at 0")
    _check_confidence(model, case, [node, other])
    if Capability.SET_LABELS in abilities:
        before = _saved(model)
        (prediction_set,) = model.predict_sets(graph, [node], coverage=0.5).sets
        expect(set(prediction_set) <= set(model.classes_), "a prediction set has unknown classes")
        expect(_saved(model) == before, "calibrating prediction sets changes the model")
    if Capability.EMBED in abilities:
        expect(model.embed(graph, [node, other, node]).shape[0] == 3, "embed gives other rows")
    if Capability.EXPLAIN in abilities:
        expect(bool(json.dumps(model.explain(graph, node))), "an explanation is no JSON")
    if Capability.ADD_LABELS in abilities:
        model.add_labels(graph, new)
        with must_raise(errors.ClassNameError, "a label that is there already", "already"):
            model.add_labels(graph, new)


def check_removing_classes(case: Case) -> None:
    """Require that removing a class does not affect the others.

    Their scores must not change. If the method is reversible, adding and removing a class must
    restore every byte of the state instead.
    """
    model = case.after_sessions()
    if Capability.REMOVE_CLASSES not in model.capabilities():
        return
    before = scores(model, case.graph)
    removed = [model.classes_[6], model.classes_[1]]
    columns = [column for column, name in enumerate(model.classes_) if name not in removed]
    model.remove_classes(removed)
    same = np.array_equal(scores(model, case.graph), before[:, columns])
    reversible = Capability.UNDO in model.capabilities()
    expect(same or reversible, "removing classes moved the scores of others")
    undone, first = case.fitted(), case.fitted()
    undone.add_classes(case.graph, {case.fresh[0]: case.keys(case.fresh[0], 3)})
    undone.remove_classes([case.fresh[0]])
    expect(undone.classes_ == first.classes_, "removing leaves other classes")
    again = undone.add_classes(case.graph, {case.fresh[1]: case.keys(case.fresh[1], 3)})
    expect(again.session == 1, f"after an undo the next session is {again.session}, not 1")
    if reversible:
        undone.remove_classes([case.fresh[1]])
        expect(_saved(undone) == _saved(first), "adding and removing leaves a trace")


def check_setting_labels(case: Case) -> None:
    """Require that ``set_labels`` gives the same model as learning the same labels step by step.

    A method without this capability must raise an error.
    """
    added, direct = case.after_sessions(), case.fitted()
    labels = {name: keys.tolist() for name, keys in added.labels_.items()}
    sessions = {known.name: known.session for known in added._table.classes}
    if Capability.SET_LABELS not in added.capabilities():
        with must_raise(errors.NotSupportedError, "other labels"):
            direct.set_labels(case.graph, labels, sessions)
        return
    direct.set_labels(case.graph, labels, sessions)
    expect(_saved(direct) == _saved(added), "set_labels and add_classes make different models")
    same = np.array_equal(scores(direct, case.graph), scores(added, case.graph))
    expect(same, "set_labels and add_classes give different scores")
    fewer = {name: labels[name] for name in case.known}
    direct.set_labels(case.graph, fewer, sessions)
    expect(_saved(direct) == _saved(case.fitted()), "labels that were taken back leave a trace")


def _check_confidence(model: Method, case: Case, nodes: list[str]) -> None:
    """Require that confidence is probability times known in an open world, else probability."""
    has_open_set_score = type(model).known_class_probability is not Method.known_class_probability
    expect(
        has_open_set_score == ("world" in model.get_params()),
        "a method has a parameter `world` if and only if it has an open-set score",
    )
    table = model.predict_table(case.graph, nodes)
    expect(table.predictions == model.predict(case.graph, nodes), "its table predicts otherwise")
    has_estimate = (model.world == "open") & ~np.isnan(table.known)
    factor = np.where(has_estimate, table.known, 1.0)
    expect_close(table.confidence, table.probability * factor, 0.0, "confidence is not as defined")


def _saved(model: Method) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        return {path.name: path.read_bytes() for path in Path(folder, "model").iterdir()}


def _numpy_state() -> str:
    return str(np.random.get_state())  # noqa: NPY002
