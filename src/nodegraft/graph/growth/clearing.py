"""Recomputation, in slices between requests, of derived data that growth made stale."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from nodegraft.graph.view import GraphView

SLICE = 4096
"""So many rows are made before it is looked whether somebody waits."""


@dataclass(frozen=True)
class Cleared:
    """How much was recomputed, and how fast."""

    rows: int = 0
    """Stale rows that were made anew, of all layers."""

    seconds: float = 0.0
    """How long that took."""

    @property
    def rate(self) -> float:
        """Rows a second; 0 where there was nothing to do.

        >>> Cleared(6000, 2.0).rate, Cleared().rate
        (3000.0, 0.0)
        """
        return self.rows / self.seconds if self.rows else 0.0


def clear_stale(
    view: GraphView, most: int | None = None, until: Callable[[], bool] = lambda: False
) -> Cleared:
    """Make rows that growth made stale, a slice at a time.

    Answers are the same without: whoever needs a stale row makes it, and waits for that.

    Args:
        most: Rows take memory, so make at most about so many; None for all.
        until: Is asked before each slice; it ends when this is true.
    """
    start, rows = perf_counter(), 0
    while (most is None or rows < most) and not until():
        made = view.refresh(SLICE)
        if not made:
            break
        rows += made
    return Cleared(rows, perf_counter() - start)
