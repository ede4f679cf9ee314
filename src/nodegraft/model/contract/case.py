"""Small graph and a method fitted on it once, for the checks of the contract."""

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
    """A method does not do what every method must."""


def expect(holds: bool, otherwise: str) -> None:
    """Raise an error if a rule does not hold.

    Args:
        holds: Whether it does.
        otherwise: What is wrong if it does not.
    """
    if not holds:
        raise ContractError(otherwise)


def expect_close(found: Any, wanted: Any, tolerance: float, otherwise: str) -> None:
    """Raise an error if numbers differ by more than a tolerance.

    Args:
        wanted: Another one, of the same shape.
        otherwise: What is wrong if they are further.
    """
    expect(found.shape == wanted.shape, f"{otherwise} (shapes {found.shape} and {wanted.shape})")
    apart = float(np.abs(found - wanted).max()) if found.size else 0.0
    expect(apart <= tolerance, f"{otherwise} (apart by {apart:.2g})")


@contextmanager
def must_raise(error: type[Exception], what: str, words: str = "") -> Iterator[None]:
    """Require that the block raises an error.

    Args:
        error: The kind of error it must raise.
        words: What the error must say.
    """
    try:
        yield
    except error as caught:
        expect(words in str(caught), f"{what}: the error does not say {words!r} but {caught}")
        return
    raise ContractError(f"{what} raises no error")


CLASSES, KNOWN = 13, 5
LESSONS = ((2, 3), (1, 1), (3, 7))
"""Sessions to learn: (number of classes, labelled nodes of each class)."""


@dataclass(frozen=True)
class Case:
    """13 classes and 400 nodes; five classes are known from many labels, six from a few."""

    make: Callable[[], Method]
    """Makes the method, not yet taught."""

    @cached_property
    def graph(self) -> Graph:
        """Nodes are known by text, features are sparse."""
        return self._drawn[0]

    @cached_property
    def members(self) -> NodeLabels:
        """All nodes of every class."""
        return self._drawn[1]

    @cached_property
    def _drawn(self) -> tuple[Graph, NodeLabels]:
        graph, labels = BlockModel(nodes=400, classes=CLASSES, sparse=True, features=40).draw()
        keys = NodeKeys([f"n{row}" for row in range(graph.num_nodes)])
        edges = Adjacency.from_edges(*graph.edges(), graph.num_nodes)
        return Graph.from_parts(keys, graph.features(graph.rows), edges), labels

    def keys(self, name: str, count: int | None = None) -> list[Key]:
        """Return nodes of a class.

        Args:
            count: How many; None for all.
        """
        return self.graph.keys_of(self.members[name][:count])

    @property
    def known(self) -> tuple[str, ...]:
        """The classes of ``fit``."""
        return self.members.classes[:KNOWN]

    @property
    def fresh(self) -> tuple[str, ...]:
        """The other classes."""
        return self.members.classes[KNOWN:]

    def fit(self) -> Method:
        """Fit the known classes, each from two thirds of its nodes."""
        labels = {name: self.keys(name)[: len(self.members[name]) * 2 // 3] for name in self.known}
        return self.make().fit(self.graph, labels)

    def teach(self, model: Method) -> Method:
        """Add classes in several sessions."""
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
    def _taught(self) -> Method:
        return self.teach(copy(self._fitted))

    def fitted(self) -> Method:
        """Return a model that knows the classes of ``fit``; a copy, free to be changed."""
        return copy(self._fitted)

    def taught(self) -> Method:
        """Return a copy of the model after several sessions."""
        return copy(self._taught)

    @property
    def untaught(self) -> tuple[str, ...]:
        """Classes that :meth:`taught` does not know."""
        return self.fresh[sum(count for count, _ in LESSONS) :]


def scores(model: Method, graph: Graph) -> NDArray[np.float64]:
    """Return a model's scores of all nodes of a graph."""
    return model.score_rows(graph, graph.rows)
