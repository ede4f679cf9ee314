"""Newness: a baseline that predicts from the session in which a node became visible."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.keys import key_hashes
from nodegraft.graph.labels import NodeLabels
from nodegraft.graph.view import GraphView
from nodegraft.methods.sgc_mean import SGCMean
from nodegraft.model.learned import learned
from nodegraft.streams.curriculum import Curriculum

# This number is subtracted from the cosines of excluded classes. Cosines lie between -1 and 1, so
# an excluded class never has a higher score than another class.
_RULED_OUT = 10.0


@dataclass(kw_only=True)
class Newness(SGCMean):
    """Baseline that predicts only classes added in the session in which a node became visible.

    It is :class:`~nodegraft.methods.sgc_mean.SGCMean` with all other classes excluded. In real use,
    the time when a node appears says nothing about its class. In a benchmark where nodes arrive
    with their class, it reveals the session of the class. The gain of this method over ``sgc-mean``
    measures this leak and is no merit. It is no upper bound of the leak: other uses of the arrival,
    such as a prior on the age of a node, can gain more.
    """

    nodes_: NDArray[np.int64] = learned()
    """Hashes of the keys of all nodes seen so far, ascending."""

    first_seen_: NDArray[np.int64] = learned()
    """Session in which each node of ``nodes_`` became visible."""

    came_with_: NDArray[np.int64] = learned()
    """Session in which each known class was added."""

    name: ClassVar[str] = "newness"
    summary: ClassVar[str] = "sgc-mean that takes new nodes for new classes: one use of the arrival"
    citation: ClassVar[str] = ""
    reversible: ClassVar[bool] = False

    def learn_base(self, view: GraphView, curriculum: Curriculum) -> None:
        """Compute the means of the known classes, and record the visible nodes."""
        super().learn_base(view, curriculum)
        self.nodes_ = np.sort(_hashes(view, view.rows))
        self.first_seen_ = np.zeros(self.nodes_.size, dtype=np.int64)
        self.came_with_ = np.zeros(len(curriculum.train), dtype=np.int64)

    def learn_classes(self, view: GraphView, support: NodeLabels) -> None:
        """Add a mean for each new class, and record which nodes became visible in this session."""
        super().learn_classes(view, support)
        session = self.came_with_.max(initial=0) + 1
        new = np.setdiff1d(_hashes(view, view.rows), self.nodes_)
        place = np.searchsorted(self.nodes_, new)
        self.first_seen_ = np.insert(self.first_seen_, place, session)
        self.nodes_ = np.insert(self.nodes_, place, new)
        self.came_with_ = np.append(self.came_with_, np.full(len(support), session))

    def keep_classes(self, columns: NDArray[np.int64]) -> None:
        """Drop the means of the removed classes."""
        super().keep_classes(columns)
        self.came_with_ = self.came_with_[columns]

    def score(self, view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return centred cosines with class means, lowered for classes of other sessions."""
        hashes = _hashes(view, rows)
        place = np.searchsorted(self.nodes_, hashes).clip(max=self.nodes_.size - 1)
        latest = self.came_with_.max(initial=0)
        session = np.where(self.nodes_[place] == hashes, self.first_seen_[place], latest)
        other = session[:, None] != self.came_with_[None, :]
        scores: NDArray[np.float64] = super().score(view, rows) - _RULED_OUT * other
        return scores


def _hashes(view: GraphView, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    return key_hashes(view.key_array_of(rows)).view(np.int64)
