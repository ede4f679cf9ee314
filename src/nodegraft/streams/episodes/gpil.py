"""Graph pseudo-incremental learning (GPIL): each episode adds classes to the previous one."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes.episode import Episode, split_support_query


@dataclass(frozen=True, kw_only=True)
class GPIL:
    """Episode sampler of the HAG-Meta paper (Section 4.1).

    A round starts from the base classes. Each episode adds ``ways`` pseudo-novel classes that are
    new in this round, keeps their support nodes for the rest of the round, and has query nodes of
    every class added so far. A new round starts when fewer than ``ways`` classes are left.
    """

    train: NodeLabels
    """Labels of the base and pseudo-novel classes."""

    pseudo_novel: tuple[str, ...]
    """Classes that arrive during a round; all other classes of ``train`` are base classes."""

    ways: int
    """Number of pseudo-novel classes that an episode adds (N): from 1 to their total number."""

    shots: int
    """Number of support nodes of each pseudo-novel class (K); fewer in small classes."""

    queries: int
    """Maximum number of query nodes of each class, including base classes."""

    base_shots: int = 20
    """Number of support nodes of each base class, which are drawn again in every episode, because
    base classes have many labels. The paper does not state this number."""

    def __post_init__(self) -> None:
        if not 1 <= self.ways <= len(self.pseudo_novel):
            raise ParameterError(
                f"{self.ways}-way episodes need as many pseudo-novel classes; there are "
                f"{len(self.pseudo_novel)}."
            )

    @property
    def base(self) -> tuple[str, ...]:
        """Base classes, which are known from the start of a round."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    def episodes(self, generator: np.random.Generator) -> Iterator[Episode]:
        """Yield an endless sequence of episodes, round after round."""
        while True:
            yield from self._round(generator)

    def _round(self, generator: np.random.Generator) -> Iterator[Episode]:
        order = generator.permutation(self.pseudo_novel).tolist()
        cached: list[NodeLabels] = []
        # Draw query nodes from all nodes of a class except its support nodes of this round.
        others: dict[str, NDArray[np.int64]] = {}
        for start in range(0, len(order) - self.ways + 1, self.ways):
            supports = {}
            for name in order[start : start + self.ways]:
                rows = self.train[name]
                supports[name], others[name] = split_support_query(
                    rows, self.shots, rows.size, generator
                )
            cached.append(NodeLabels(supports))
            yield self._episode(tuple(cached), others, generator)

    def _episode(
        self,
        cached: tuple[NodeLabels, ...],
        others: dict[str, NDArray[np.int64]],
        generator: np.random.Generator,
    ) -> Episode:
        support, query = {}, {}
        for name in self.base:
            support[name], query[name] = split_support_query(
                self.train[name], self.base_shots, self.queries, generator
            )
        for name, rows in others.items():
            query[name] = generator.permutation(rows)[: self.queries]
        return Episode((NodeLabels(support), *cached), NodeLabels(query))
