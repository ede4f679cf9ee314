"""Check of concurrent readers and a writer: every prediction comes from one committed state."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic, sleep

import numpy as np

from nodegraft.graph.keys import Key
from nodegraft.model.contract.case import Case, expect
from nodegraft.model.hooks import Capability
from nodegraft.model.method import Method

Answer = tuple[tuple[str, ...], bytes]
"""Result of one prediction: class names, and their probabilities as bytes."""


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
    planned = copy(model)
    committed = {_names(planned, case, nodes)}
    shares = {_shares(planned, case, nodes)}
    started = monotonic()
    changes = 0
    for change in _changes(planned, case, most_changes):
        change.make(planned, case)
        committed.add(_names(planned, case, nodes))
        shares.add(_shares(planned, case, nodes))
        changes += 1
    pause = max(0.0, seconds - (monotonic() - started)) / max(1, changes)
    watch = _Watch()
    threads = [
        Thread(target=watch.read, args=(model, case, nodes, place % 2)) for place in range(readers)
    ]
    for thread in threads:
        thread.start()
    try:
        for change in _changes(model, case, most_changes):
            sleep(pause)
            change.make(model, case)
    finally:
        sleep(pause)
        watch.ended.set()
        for thread in threads:
            thread.join()
    expect(not watch.errors, f"asking while classes change fails: {watch.errors[:1]}")
    expect(watch.answers > 0, "no reader got a prediction")
    strange = (watch.names - committed) or (watch.shares - shares)
    expect(not strange, f"{len(strange)} predictions match no state that the model had")


@dataclass(frozen=True)
class _Change:
    add: str = ""
    remove: str = ""

    def make(self, model: Method, case: Case) -> None:
        if self.add:
            model.add_classes(case.graph, {self.add: case.keys(self.add, 3)})
        else:
            model.remove_classes([self.remove])


def _changes(model: Method, case: Case, most: int) -> Iterator[_Change]:
    """Yield additions and removals of classes; only additions if the method cannot remove any."""
    comes_and_goes = Capability.REMOVE_CLASSES in model.capabilities()
    for place in range(most):
        if comes_and_goes:
            name = case.fresh[place // 2 % len(case.fresh)]
            yield _Change(remove=name) if place % 2 else _Change(add=name)
        elif place < len(case.fresh):
            yield _Change(add=case.fresh[place])


@dataclass
class _Watch:
    """Record of the predictions and errors of the reader threads."""

    ended: Event = field(default_factory=Event)
    names: set[tuple[str, ...]] = field(default_factory=set)
    shares: set[bytes] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    answers: int = 0

    def read(self, model: Method, case: Case, nodes: list[Key], by_name: int) -> None:
        while not self.ended.is_set():
            try:
                if by_name:
                    self.names.add(_names(model, case, nodes))
                else:
                    self.shares.add(_shares(model, case, nodes))
                self.answers += 1
            except Exception as error:
                self.errors.append(repr(error))


def _names(model: Method, case: Case, nodes: list[Key]) -> tuple[str, ...]:
    return tuple(model.predict(case.graph, nodes))


def _shares(model: Method, case: Case, nodes: list[Key]) -> bytes:
    return model.predict_proba(case.graph, nodes).tobytes()
