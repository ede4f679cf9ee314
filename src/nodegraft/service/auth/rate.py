"""Rate limit per caller."""

from collections.abc import Callable
from time import monotonic

BURST_SECONDS = 5.0
"""Unused requests of this time may be sent at once."""

MAX_BUCKETS = 10_000
"""At this many buckets, full ones are dropped."""


class Rate:
    """Token bucket for each caller: it fills at a constant rate, and every request takes one out.

    >>> clock = iter([0.0, 0.0, 0.0, 1.0])
    >>> rate = Rate(0.4, lambda: next(clock))
    >>> [rate.allows("ci") for _ in range(4)]
    [True, True, False, False]

    Args:
        per_second: Rate at which a bucket fills; 0 for no limit.
        clock: Returns the time in seconds.
        burst_seconds: Time that fills a bucket; it holds at least one request.
    """

    def __init__(
        self,
        per_second: float,
        clock: Callable[[], float] = monotonic,
        burst_seconds: float = BURST_SECONDS,
    ) -> None:
        self._per_second, self._clock = per_second, clock
        self._most = max(1.0, per_second * burst_seconds)
        self._fill_seconds = self._most / per_second if per_second else 0.0
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, caller: str) -> bool:
        """Take one request out of a caller's bucket; return False if it is empty.

        Args:
            caller: Name or address of the caller.
        """
        if not self._per_second:
            return True
        at = self._clock()
        if len(self._left) >= MAX_BUCKETS:
            self._drop_full(at)
        left, before = self._left.get(caller, (self._most, at))
        left = min(self._most, left + (at - before) * self._per_second)
        self._left[caller] = (max(left - 1.0, 0.0) if left >= 1.0 else left, at)
        return left >= 1.0

    def is_empty(self, caller: str) -> bool:
        """Return whether a caller's bucket is empty, without taking anything out.

        Args:
            caller: Name or address of the caller.
        """
        if not self._per_second or caller not in self._left:
            return False
        left, before = self._left[caller]
        return left + (self._clock() - before) * self._per_second < 1.0

    def _drop_full(self, at: float) -> None:
        """Drop full buckets, which equal new ones: the number of addresses is unlimited."""
        self._left = {
            caller: (left, before)
            for caller, (left, before) in self._left.items()
            if at - before < self._fill_seconds
        }
