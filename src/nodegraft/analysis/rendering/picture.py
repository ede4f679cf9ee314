"""A figure with its name and the sentences that say the same."""

from dataclasses import dataclass
from functools import cached_property

from nodegraft.analysis.rendering.drawing import Figure, svg_text


@dataclass(frozen=True)
class Picture:
    """A figure, and what goes with it in a page."""

    name: str
    """Differs from those of other figures of its kind; part of the file's name."""

    description: str
    """What the figure shows, in sentences, for readers who cannot see it."""

    figure: Figure
    """The figure itself."""

    caption: str = ""
    """What stands below it, for everybody."""

    @cached_property
    def svg(self) -> str:
        """Drawn once: a page and a file of its own both have it."""
        return svg_text(self.figure)
