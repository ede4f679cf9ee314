"""Check of concurrent readers and a writer: every prediction comes from one committed state."""

from collections.abc import Callable
from copy import copy
from threading import Event, Thread
from time import monotonic, sleep

import numpy as np

from nodegraft.graph.keys import Key
from nodegraft.model.contract.case import Case, expect
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method


def check_readers_beside_a_writer(
    case: Case, readers: int = 8, seconds: float = 0.5, most_changes: int = 12
) -> None:
    """Require that threads can predict while another thread adds and removes classes.

    No prediction may fail or mix two states of the model.

    Args:
        readers: Number of threads that predict.
        seconds: Minimum duration of the test; changes are spread over it.
        most_changes: Maximum number of changes.
    """
    nodes = case.graph.keys_of(np.arange(0, case.graph.num_nodes, 20))
    model = case.fitted()
    changes = _changes(model, case, most_changes)
    planned, started = copy(model), monotonic()
    committed: set[object] = {_names(planned, case, nodes), _probabilities(planned, case, nodes)}
    for name in changes:
        _change(planned, case, name)
        committed |= {_names(planned, case, nodes), _probabilities(planned, case, nodes)}
    pause = max(0.0, seconds - (monotonic() - started)) / max(1, len(changes))
    ended, predicted, errors = Event(), set[object](), list[str]()

    def read(predict: Callable[[Method, Case, list[Key]], object]) -> None:
        while not ended.is_set():
            try:
                predicted.add(predict(model, case, nodes))
            except Exception as error:
                errors.append(repr(error))

    threads = [
        Thread(target=read, args=(_names if place % 2 else _probabilities,))
        for place in range(readers)
    ]
    for thread in threads:
        thread.start()
    try:
        for name in changes:
            sleep(pause)
            _change(model, case, name)
    finally:
        sleep(pause)
        ended.set()
        for thread in threads:
            thread.join()
    expect(not errors, f"asking while classes change fails: {errors[:1]}")
    expect(bool(predicted), "no reader got a prediction")
    strange = predicted - committed
    expect(not strange, f"{len(strange)} predictions match no state that the model had")


def _changes(model: Method, case: Case, most: int) -> list[str]:
    """Return the classes to change; one that is named again is removed, if the method can."""
    if Capability.REMOVE_CLASSES not in model.capabilities():
        return list(case.fresh[:most])
    return [case.fresh[place // 2 % len(case.fresh)] for place in range(most)]


def _change(model: Method, case: Case, name: str) -> None:
    """Add a class, or remove it if the model has it."""
    if name in model.classes_:
        model.remove_classes([name])
    else:
        model.add_classes(case.graph, {name: case.keys(name, 3)})


def _names(model: Method, case: Case, nodes: list[Key]) -> tuple[str, ...]:
    return tuple(model.predict(case.graph, nodes))


def _probabilities(model: Method, case: Case, nodes: list[Key]) -> bytes:
    return model.predict_proba(case.graph, nodes).tobytes()
