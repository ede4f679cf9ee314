"""Number of correct predictions among some nodes, with the interval of their share."""

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class AccuracyCount:
    """Number of correct predictions among held-out nodes."""

    asked: int
    """Number of nodes that were predicted."""

    right: int
    """Number of correct predictions."""

    @property
    def share(self) -> float | None:
        """Share of correct predictions; None without nodes."""
        return self.right / self.asked if self.asked else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % interval of the share, as if held-out nodes had been drawn at random."""
        # Help texts and lists of versions must not wait for NumPy.
        from nodegraft.evaluation.metrics import share_interval

        return share_interval(self.right, self.asked) if self.asked else None

    def __str__(self) -> str:
        if self.interval is None:
            return "not measured"
        low, high = (100 * end for end in self.interval)
        return (
            f"{100 * self.right / self.asked:.1f} % ({self.right:,} of {self.asked:,}; "
            f"95 % interval {low:.1f} to {high:.1f} %)"
        )

    def to_json(self) -> dict[str, Any]:
        """Return counts, share and interval as plain JSON."""
        return {**asdict(self), "share": self.share, "interval": self.interval}
