"""A figure with its name and the sentences that say the same in words."""

from dataclasses import dataclass
from functools import cached_property

from nodegraft.report.figures.canvas.drawing import Figure, svg_text


@dataclass(frozen=True)
class Picture:
    """``name`` tells it from the others of its kind; ``words`` are for who cannot see it.

    ``note`` stands below it, for everybody.
    """

    name: str
    words: str
    figure: Figure
    note: str = ""

    @cached_property
    def svg(self) -> str:
        """Drawn once: a page and a file of its own both have it."""
        return svg_text(self.figure)
