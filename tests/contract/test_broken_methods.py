"""Methods that break a rule on purpose. The contract suite must catch every one of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.contract import basics, identity, threads
from nodegraft.model.contract.case import Case, ContractError
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum


@dataclass(kw_only=True)
class KeepsRows(SGCMean):
    """Remembers its first node by row, as all methods once did."""

    first_: list[int] = learned()

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        super().learn_base(view, curriculum)
        self.first_ = [int(curriculum.train.rows()[0])]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        near: Any = self.embedding(view, rows) @ self.embedding(view, np.array(self.first_)).T
        scores = super().score(view, rows)
        scores[:, 0] += np.asarray(near.toarray()).ravel()
        return scores


@dataclass(kw_only=True)
class CountsRows(SGCMean):
    """Looks at where a node stands in the table."""

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        return super().score(view, rows) + (rows % 2)[:, None] * np.arange(len(self.classes_))


@dataclass(kw_only=True)
class WritesInto(SGCMean):
    """Adds to an array that earlier states still hold."""

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        self.centre_ += 0.01
        super().learn_classes(view, support)


@dataclass(kw_only=True)
class LeavesATrace(SGCMean):
    """Says that it can be undone, and moves the centre when it learns."""

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        super().learn_classes(view, support)
        self.centre_ = self.prototypes_.mean(axis=0)


@dataclass(kw_only=True)
class RemembersInTheClass(SGCMean):
    """Keeps what it scores by where all copies see it."""

    latest: ClassVar[Any] = None

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        means = type(self).latest
        if means is None or means.shape[0] != len(self.prototypes_):
            type(self).latest = means = self.prototypes_ + 0.1 * np.random.default_rng().random()
        return np.asarray(super().score(view, rows) + means.sum())


@dataclass(kw_only=True)
class DrawsAnew(SGCMean):
    """Another model every time."""

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        super().learn_base(view, curriculum)
        self.centre_ = self.centre_ + np.random.default_rng().random()


@dataclass(kw_only=True)
class Untyped(SGCMean):
    """A parameter that takes anything."""

    width: Any = 3


@dataclass(kw_only=True)
class WithoutRange(SGCMean):
    """A number without a range."""

    width: int = 3


@dataclass(kw_only=True)
class Undeclared(SGCMean):
    """Learns what its class does not tell."""

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        super().learn_classes(view, support)
        self.secret_ = 1


@pytest.mark.parametrize(
    ("method", "check", "message"),
    [
        (KeepsRows, identity.check_rows_may_come_in_any_order, "rows in another order"),
        (KeepsRows, identity.check_nodes_may_go, "nodes removed"),
        (CountsRows, identity.check_rows_may_be_inserted, "rows inserted"),
        (WritesInto, basics.check_changes_leave_earlier_states_alone, "was written into"),
        (LeavesATrace, basics.check_removing_classes, "leaves a trace"),
        (DrawsAnew, basics.check_is_deterministic, "other scores"),
        (Untyped, basics.check_parameters_are_checked, "width set to an object raises no error"),
        (WithoutRange, basics.check_parameters_are_checked, "'width'.* have no range"),
        (Undeclared, basics.check_reports_what_it_did, "does not declare"),
        (
            RemembersInTheClass,
            threads.check_readers_beside_a_writer,
            "no state that the model had",
        ),
    ],
)
def test_a_broken_rule_is_caught(
    method: type[SGCMean], check: Callable[[Case], None], message: str
) -> None:
    from nodegraft.base.errors import CheckpointError

    with pytest.raises((ContractError, CheckpointError), match=message):
        check(Case(method))
