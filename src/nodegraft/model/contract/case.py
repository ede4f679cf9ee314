"""Test case of the contract checks: a small graph, and a method that is fitted on it once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import NodegraftError
from nodegraft.graph.block_model import BlockModel
from nodegraft.graph.edges.adjacency import Adjacency
from nodegraft.graph.graph import Graph
from nodegraft.graph.keys import Key, NodeKeys
from nodegraft.graph.labels import NodeLabels
from nodegraft.model.method import Method


class ContractError(NodegraftError, AssertionError):
    """Error raised if a method breaks a rule of the contract."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise an error if a condition is false."""
    if not holds:
        raise ContractError(otherwise)


def expect_close(actual: Any, expected: Any, tolerance: float, otherwise: str) -> None:
    """Raise an error if two arrays differ in shape, or by more than a tolerance."""
    expect(
        actual.shape == expected.shape, f"{otherwise} (shapes {actual.shape} and {expected.shape})"
    )
    apart = float(np.abs(actual - expected).max()) if actual.size else 0.0
    expect(apart <= tolerance, f"{otherwise} (apart by {apart:.2g})")


@contextmanager
def must_raise(error: type[Exception], what: str, words: str = "") -> Iterator[None]:
    """Require that the ``with`` block raises an error.

    Args:
        what: Description of the invalid call, for the error message of the check.
        words: Text that the message of the exception must contain.
    """
    try:
        yield
    except error as caught:
        expect(words in str(caught), f"{what}: the error does not say {words!r} but {caught}")
        return
    raise ContractError(f"{what} raises no error")


CLASSES, KNOWN = 13, 5
LESSONS = ((2, 3), (1, 1), (3, 7))
"""Sessions that add classes, each as a pair: number of classes, labelled nodes per class."""


@dataclass(frozen=True)
class Case:
    """Graph with 400 nodes and 13 classes: five are fitted, six are added from a few labels."""

    make: Callable[[], Method]
    """Function that returns an unfitted method."""

    @cached_property
    def graph(self) -> Graph:
        """Graph with text keys and sparse features."""
        return self._data[0]

    @cached_property
    def members(self) -> NodeLabels:
        """Class name -> all nodes of the class."""
        return self._data[1]

    @cached_property
    def _data(self) -> tuple[Graph, NodeLabels]:
        graph, labels = BlockModel(nodes=400, classes=CLASSES, sparse=True, features=40).draw()
        keys = NodeKeys([f"n{row}" for row in range(graph.num_nodes)])
        edges = Adjacency.from_edges(*graph.edges(), graph.num_nodes)
        return Graph.from_parts(keys, graph.features(graph.rows), edges), labels

    def keys(self, name: str, count: int | None = None) -> list[Key]:
        """Return keys of nodes of a class.

        Args:
            count: Number of nodes; None for all.
        """
        return self.graph.keys_of(self.members[name][:count])

    @property
    def known(self) -> tuple[str, ...]:
        """Classes that :meth:`fit` learns."""
        return self.members.classes[:KNOWN]

    @property
    def fresh(self) -> tuple[str, ...]:
        """Classes that :meth:`fit` does not learn."""
        return self.members.classes[KNOWN:]

    def fit(self) -> Method:
        """Return a model fitted on the known classes; two thirds of their nodes are labels."""
        labels = {name: self.keys(name)[: len(self.members[name]) * 2 // 3] for name in self.known}
        return self.make().fit(self.graph, labels)

    def teach(self, model: Method) -> Method:
        """Add classes to a model in the sessions of :data:`LESSONS`, and return it."""
        first = 0
        for count, shots in LESSONS:
            names = self.fresh[first : first + count]
            model.add_classes(self.graph, {name: self.keys(name, shots) for name in names})
            first += count
        return model

    @cached_property
    def _fitted(self) -> Method:
        return self.fit()

    @cached_property
    def _after_sessions(self) -> Method:
        return self.teach(copy(self._fitted))

    def fitted(self) -> Method:
        """Return a copy of the fitted model, which the caller may change."""
        return copy(self._fitted)

    def after_sessions(self) -> Method:
        """Return a copy of the model after all sessions, which the caller may change."""
        return copy(self._after_sessions)

    @property
    def unused_classes(self) -> tuple[str, ...]:
        """Classes that the model of :meth:`after_sessions` has not learned."""
        return self.fresh[sum(count for count, _ in LESSONS) :]


def scores(model: Method, graph: Graph) -> NDArray[np.float64]:
    """Return the scores of all nodes of a graph."""
    return model.score_rows(graph, graph.rows)
