"""Evaluation of methods on a store's own graph and labels, under the strict protocol."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from nodegraft.analysis.drift import CONFIDENT
from nodegraft.analysis.own_labels.comparison import Evaluation, MethodResult
from nodegraft.analysis.own_labels.own_stream import make_plan, own_stream
from nodegraft.analysis.snapshot import State
from nodegraft.base.errors import ParameterError
from nodegraft.base.events import Listener
from nodegraft.base.parameters.build import build
from nodegraft.base.parameters.constraints import PositiveInt
from nodegraft.base.parameters.validate import validate_value
from nodegraft.evaluation.protocol import StreamResult, evaluate
from nodegraft.graph.keys import several
from nodegraft.model.back_off import Ancestors, Floats, TreeMeasures, back_off, measure
from nodegraft.model.class_tree import ClassTree
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method
from nodegraft.model.registry import REGISTRY
from nodegraft.streams.stream import ClassStream

METHODS = ("graft", "sgc-mean", "label-propagation", "text-only")
"""Methods that are compared with the store's own method. The first uses all signals, the second
propagated features, the third edges only, and the last features only."""


def evaluate_methods(
    state: State,
    number: int,
    methods: Sequence[str] | None,
    seeds: int,
    shots: int,
    listener: Listener,
) -> Evaluation:
    """Train each method on the same streams and measure it; see :meth:`nodegraft.Store.evaluate`.

    Args:
        number: Number of the version.
        methods: Names of methods; None for the store's own method and :data:`METHODS`.
        shots: Number of labels per new class.
    """
    validate_value("seeds", seeds, PositiveInt)
    names = several(methods, "methods") if methods else [state.model.name, *METHODS]
    names = list(dict.fromkeys(names))
    parameters = {name: _parameters(state.model, name) for name in names}
    plan = make_plan({name: len(own.all) for name, own in state.labels.items()}, shots)
    results_of: dict[str, list[StreamResult]] = {name: [] for name in names}
    measures_of: dict[str, list[TreeMeasures]] = {name: [] for name in names}
    for seed in range(seeds):
        for name in names:
            # Each method gets a new stream, so that it cannot use values cached by another method.
            stream = own_stream(state, plan, seed)
            progress = _Within(listener, f"{name}, seed {seed + 1} of {seeds}", len(stream))
            model = build(REGISTRY.get(name), {**parameters[name], "seed": seed})
            results_of[name].append(evaluate(model, stream, listener=progress))
            if state.labels.tree:
                measures_of[name].append(_measure_in_tree(model, stream, state.labels.tree))
    results = [
        MethodResult(name, tuple(streams), tuple(measures_of[name]))
        for name, streams in results_of.items()
    ]
    return Evaluation(number, plan, tuple(sorted(results, key=lambda result: -result.last.mean)))


class _Within(Listener):
    """Progress listener that adds the name of a run to each stage."""

    def __init__(self, listener: Listener, run: str, sessions: int) -> None:
        self._listener, self._run, self._sessions = listener, run, sessions
        listener.step(f"{run}, session", 0, sessions)

    def step(self, stage: str, done: int, total: int, **numbers: float) -> None:
        self._listener.step(f"{self._run}, {stage}", done, total, **numbers)

    def session(self, result: Any) -> None:
        self._listener.step(f"{self._run}, session", result.index + 1, self._sessions)


def _parameters(own: Method, name: str) -> dict[str, Any]:
    """Return the model's parameters if its method has the given name, otherwise no parameters."""
    if REGISTRY.get(name).many_shot:
        raise ParameterError(
            f"{name} gets most labels of every new class: it is an upper bound, not a method to "
            "use. Omit it."
        )
    return own.get_params() if name == own.name else {}


def _measure_in_tree(model: Method, stream: ClassStream, tree: ClassTree) -> TreeMeasures:
    """Measure predictions and answers that back off, for the query nodes of the last session.

    Answers have a confidence of at least :data:`nodegraft.analysis.drift.CONFIDENT`, in a closed
    world, because all query nodes belong to known classes.

    Args:
        model: Method that was trained on the whole stream.
        stream: Stream of sessions.
        tree: Parents of the classes.
    """
    *_, session = stream
    rows, ancestors = np.sort(session.query.rows()), Ancestors.of(model.classes_, tree)
    scores = model.score_rows(session.view, rows)
    best = scores.argmax(axis=1)
    answers = None
    if Capability.CALIBRATED in model.capabilities():
        shares: Floats = model.probabilities(session.view, scores)
        known = np.full(rows.size, np.nan)
        answers = back_off(shares, best, known, "closed", ancestors, CONFIDENT).places
    targets = session.query.targets(model.classes_)[np.argsort(session.query.rows())]
    return measure(best, answers, targets, ancestors)
