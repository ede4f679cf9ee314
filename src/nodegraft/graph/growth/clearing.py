"""Recompute outdated rows in caches after growth of a graph, in small steps between requests."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from nodegraft.graph.view import GraphView

SLICE = 4096
"""Number of rows to recompute before ``until`` is called again."""


@dataclass(frozen=True)
class Cleared:
    """Number of recomputed rows, and duration."""

    rows: int = 0
    """Number of recomputed rows, summed over all layers."""

    seconds: float = 0.0
    """Duration of the recomputation in seconds."""

    @property
    def rate(self) -> float:
        """Recomputed rows per second; 0 if no row was outdated.

        >>> Cleared(6000, 2.0).rate, Cleared().rate
        (3000.0, 0.0)
        """
        return self.rows / self.seconds if self.rows else 0.0


def clear_stale(
    view: GraphView, most: int | None = None, until: Callable[[], bool] = lambda: False
) -> Cleared:
    """Recompute outdated rows in the caches of a graph that has grown, a small number at a time.

    Results are the same without this call: an outdated row is recomputed at the latest when it is
    read.

    Args:
        most: Approximate maximum number of rows to recompute, which limits memory; None for no
            limit.
        until: Function that is called repeatedly; the recomputation stops when it returns True.
    """
    start, rows = perf_counter(), 0
    while (most is None or rows < most) and not until():
        count = view.refresh(SLICE)
        if not count:
            break
        rows += count
    return Cleared(rows, perf_counter() - start)
