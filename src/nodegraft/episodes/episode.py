"""A practice task: what is learned, in which order it was met, and what is asked."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nodegraft.graph.labels import Labelled


@dataclass(frozen=True)
class Episode:
    """``tasks`` are the supports task by task, oldest first; ``query`` asks about every class."""

    tasks: tuple[Labelled, ...]
    query: Labelled

    @property
    def classes(self) -> tuple[str, ...]:
        """All classes met, task by task: the columns of the scores."""
        return tuple(name for task in self.tasks for name in task)


def draw_apart(
    rows: NDArray[np.int64], support: int, query: int, generator: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Disjoint support and query; a small class gives at least one node to each side.

    >>> support, query = draw_apart(np.arange(3), 5, 5, np.random.default_rng(0))
    >>> support.size, query.size
    (2, 1)
    """
    shuffled = generator.permutation(rows)
    cut = max(1, min(support, rows.size - 1))
    return shuffled[:cut], shuffled[cut : cut + query]
