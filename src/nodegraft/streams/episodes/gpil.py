"""Graph pseudo-incremental learning: every episode is one more increment of a round."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.base.errors import ParameterError
from nodegraft.graph.labels import NodeLabels
from nodegraft.streams.episodes.episode import Episode, split_support_query


@dataclass(frozen=True, kw_only=True)
class GPIL:
    """The paper's sampler (Section 4.1).

    A round starts from the base classes. Each episode adds pseudo-novel classes that are new in
    this round, keeps their supports for the rest of the round, and has queries of every class so
    far. When fewer than ``ways`` classes are left a new round starts.
    """

    train: NodeLabels
    """Labels of the base classes and of the pseudo-novel ones."""

    pseudo_novel: tuple[str, ...]
    """The classes that arrive during a round; the others in ``train`` are the base."""

    ways: int
    """How many pseudo-novel classes an episode adds (N): at least 1, at most all of them."""

    shots: int
    """How many supports each of them has (K); fewer in a class that is too small."""

    queries: int
    """How many queries each class has at most, the base classes included."""

    base_shots: int = 20
    """Number of supports of each base class. Every episode draws other ones, because base classes
    have many labels; the paper does not state the number."""

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
        """Yield the episodes of endless rounds.

        Args:
            generator: Decides the order of the classes and the nodes.
        """
        while True:
            yield from self._round(generator)

    def _round(self, generator: np.random.Generator) -> Iterator[Episode]:
        order = generator.permutation(self.pseudo_novel).tolist()
        cached: list[NodeLabels] = []
        # All nodes of a class but its cached supports may be queries.
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
