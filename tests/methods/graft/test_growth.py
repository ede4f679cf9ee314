"""Predictions on a graph that grows little by little are those of a graph built at once."""

import numpy as np
import pytest
from numpy.typing import NDArray
from studies.sizes import Case

from nodegraft.graph.graph import Graph
from nodegraft.graph.propagation.diffusion import Diffusion
from nodegraft.methods.graft import Graft
from tests.slow_suite import slow

LEAST_SAME = 0.998


class Town:
    """A block model of 20,000 nodes that grows by random nodes and edges; keys are numbers."""

    def __init__(self) -> None:
        case = Case.draw(20_000, seed=1)
        self.graph = case.graph
        self.model = Graft().fit(self.graph, case.first)
        self.model.add_classes(self.graph, case.new)
        labels = [rows for part in (case.first, case.new) for rows in part.values()]
        self._labelled = self.graph.keys_of(np.concatenate(labels))
        self._draws = np.random.default_rng(0)
        self._classes = np.empty(self.graph.num_nodes, dtype=np.int64)
        for number, rows in enumerate(case.members.values()):
            self._classes[rows] = number

    def grow(self) -> None:
        """Add one to five nodes like others, with edges to nodes of their class or to any."""
        like = self._draws.integers(self.graph.num_nodes, size=self._draws.integers(1, 6))
        first = max(map(int, self.graph.keys_of(self.graph.rows))) + 1
        keys = list(range(first, first + like.size))
        ends = [(key, end) for key, one in zip(keys, like, strict=True) for end in self._near(one)]
        some = self._draws.integers(self.graph.num_nodes, size=self._draws.integers(0, 8))
        ends += [(self._key(one), end) for one in some for end in self._near(one)[:1]]
        features = np.asarray(self.graph.features(np.unique(like)))
        features = features[np.searchsorted(np.unique(like), like)]
        self._classes = np.append(self._classes, self._classes[like])
        self.graph = self.graph.grow(keys, features, ends)

    def shrink(self) -> None:
        """Remove three nodes without labels."""
        gone = self._draws.integers(self.graph.num_nodes, size=3)
        gone = np.setdiff1d(gone, self.graph.rows_of(self._labelled))
        self.graph = self.graph.without(gone)
        self._classes = np.delete(self._classes, gone)

    def share_of_equal_predictions(self) -> float:
        return float((self._answers(self.graph) == self._answers(self.graph.settled())).mean())

    def _answers(self, graph: Graph) -> NDArray[np.int64]:
        best: NDArray[np.int64] = self.model.score_rows(graph, graph.rows).argmax(axis=1)
        return best

    def _near(self, row: np.int64) -> list[int]:
        own = np.flatnonzero(self._classes == self._classes[row])
        ends = self._draws.choice(own, 6).tolist() + self._draws.choice(self.graph.rows, 2).tolist()
        return [self._key(end) for end in ends]

    def _key(self, row: np.int64 | int) -> int:
        [key] = self.graph.keys_of(np.array([row]))
        return int(key)


def test_small_growths_need_no_pass_and_change_few_predictions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    town = Town()
    town.model.score_rows(town.graph, town.graph.rows[:1])
    with monkeypatch.context() as without_a_pass:
        without_a_pass.setattr(Diffusion, "_pass", None)
        for _ in range(10):
            town.grow()
        town.model.score_rows(town.graph, town.graph.rows[:1])
    assert not town.graph.is_settled
    assert town.share_of_equal_predictions() >= LEAST_SAME


@slow
def test_five_hundred_random_growths() -> None:
    """With removals; heat is computed again whenever one percent of the nodes is new."""
    town, settled, shares = Town(), 0, []
    for number in range(1, 501):
        if number % 60:
            town.grow()
        else:
            town.shrink()
        settled += town.graph.is_settled
        if number % 10 == 0:
            shares.append(town.share_of_equal_predictions())
    assert min(shares) >= LEAST_SAME
    assert 8 <= settled <= 100
    assert any(share < 1.0 for share in shares)
