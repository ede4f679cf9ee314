"""How often a caller may ask."""

from collections.abc import Callable
from time import monotonic

BURST_SECONDS = 5.0
"""What was not used so long may be used at once."""


class Rate:
    """A bucket for each caller that fills steadily; every request takes one out.

    >>> clock = iter([0.0, 0.0, 0.0, 1.0])
    >>> rate = Rate(0.4, lambda: next(clock))
    >>> [rate.allows("ci") for _ in range(4)]
    [True, True, False, False]

    Args:
        per_second: How fast it fills; 0 for no limit.
        clock: Seconds that go by.
    """

    def __init__(self, per_second: float, clock: Callable[[], float] = monotonic) -> None:
        self._per_second, self._clock = per_second, clock
        self._most = per_second * BURST_SECONDS
        self._left: dict[str, tuple[float, float]] = {}

    def allows(self, caller: str) -> bool:
        """Whether a caller may ask now.

        Args:
            caller: Who it is.
        """
        if not self._per_second:
            return True
        at = self._clock()
        left, before = self._left.get(caller, (self._most, at))
        left = min(self._most, left + (at - before) * self._per_second)
        self._left[caller] = (max(left - 1.0, 0.0) if left >= 1.0 else left, at)
        return left >= 1.0
