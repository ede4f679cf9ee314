"""Recompute cached rows that growth made stale, in slices between requests."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from nodegraft.graph.view import GraphView

SLICE = 4096
"""Number of rows that are computed before ``until`` is checked again."""


@dataclass(frozen=True)
class Cleared:
    """Number of recomputed rows, and the time that this took."""

    rows: int = 0
    """Number of recomputed rows, summed over all layers."""

    seconds: float = 0.0
    """Duration of the recomputation in seconds."""

    @property
    def rate(self) -> float:
        """Recomputed rows per second; 0 if no row was stale.

        >>> Cleared(6000, 2.0).rate, Cleared().rate
        (3000.0, 0.0)
        """
        return self.rows / self.seconds if self.rows else 0.0


def clear_stale(
    view: GraphView, most: int | None = None, until: Callable[[], bool] = lambda: False
) -> Cleared:
    """Recompute cached rows that growth made stale, one slice at a time.

    Results do not depend on this: a stale row that is not recomputed here is recomputed when it is
    next read.

    Args:
        view: View of the graph whose cached rows are recomputed.
        most: Approximate maximum number of rows, because rows take memory; None for all.
        until: Called before each slice; True ends the recomputation.
    """
    start, rows = perf_counter(), 0
    while (most is None or rows < most) and not until():
        made = view.refresh(SLICE)
        if not made:
            break
        rows += made
    return Cleared(rows, perf_counter() - start)
