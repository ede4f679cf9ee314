"""Graph pseudo-incremental learning: every episode is one more increment of a round."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.episodes.episode import Episode, split_support_query
from nodegraft.graph.labels import NodeLabels


@dataclass(frozen=True, kw_only=True)
class GPIL:
    """The paper's sampler (Section 4.1).

    A round starts from the base classes. Each episode draws ``ways`` pseudo-novel classes not met
    in this round with ``shots`` supports each, caches those supports for the rest of the round,
    and asks ``queries`` nodes of every class met so far. When fewer than ``ways`` classes are left
    a new round starts. Base classes have many labels: a fresh sample of ``base_shots`` supports
    them, disjoint from the episode's queries (the paper does not say how many).
    """

    train: NodeLabels
    pseudo_novel: tuple[str, ...]
    ways: int
    shots: int
    queries: int
    base_shots: int = 20

    def __post_init__(self) -> None:
        if not 1 <= self.ways <= len(self.pseudo_novel):
            raise ParameterError(
                f"{self.ways}-way episodes need as many pseudo-novel classes; there are "
                f"{len(self.pseudo_novel)}."
            )

    @property
    def base(self) -> tuple[str, ...]:
        """The classes known from the start of a round."""
        return tuple(name for name in self.train if name not in self.pseudo_novel)

    def episodes(self, generator: np.random.Generator) -> Iterator[Episode]:
        """Endless rounds."""
        while True:
            yield from self._round(generator)

    def _round(self, generator: np.random.Generator) -> Iterator[Episode]:
        order = generator.permutation(self.pseudo_novel).tolist()
        cached: list[NodeLabels] = []
        # What a class has besides its cached supports can be asked.
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
