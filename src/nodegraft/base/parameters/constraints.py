"""Type aliases for numbers with a range of allowed values, such as ``hops: NonNegativeInt = 2``."""

from dataclasses import dataclass
from typing import Annotated, TypeAlias


@dataclass(frozen=True)
class Range:
    """Range of allowed numbers.

    >>> Range(0, 1, above=True).allows(0), str(Range(0, 1, above=True))
    (False, 'above 0 and at most 1')
    """

    low: float | None = None
    """Smallest allowed number; None for no lower limit."""

    high: float | None = None
    """Largest allowed number; None for no upper limit."""

    above: bool = False
    """Whether the lower limit ``low`` itself is not allowed."""

    below: bool = False
    """Whether the upper limit ``high`` itself is not allowed."""

    def allows(self, value: float) -> bool:
        """Return whether a number is in the range; NaN is in no range."""
        from_low = self.low is None or value > self.low or (value == self.low and not self.above)
        to_high = self.high is None or value < self.high or (value == self.high and not self.below)
        return from_low and to_high

    def __str__(self) -> str:
        ends = []
        if self.low is not None:
            ends.append(f"{'above' if self.above else 'at least'} {self.low:g}")
        if self.high is not None:
            ends.append(f"{'below' if self.below else 'at most'} {self.high:g}")
        return " and ".join(ends)


NonNegativeInt: TypeAlias = Annotated[int, Range(0)]
PositiveInt: TypeAlias = Annotated[int, Range(1)]
NonNegativeFloat: TypeAlias = Annotated[float, Range(0)]
PositiveFloat: TypeAlias = Annotated[float, Range(0, above=True)]
Fraction: TypeAlias = Annotated[float, Range(0, 1)]
"""Number from 0 to 1, including both."""
OpenFraction: TypeAlias = Annotated[float, Range(0, 1, above=True, below=True)]
"""Number between 0 and 1, excluding both."""
FractionBelowOne: TypeAlias = Annotated[float, Range(0, 1, below=True)]
"""Number from 0 to below 1, such as a dropout rate."""
