"""A figure with its name and the sentences that say the same in words."""

from dataclasses import dataclass

from nodegraft.report.drawing import Figure


@dataclass(frozen=True)
class Picture:
    """``name`` tells it from the others of its kind; ``words`` are for who cannot see it."""

    name: str
    words: str
    figure: Figure
