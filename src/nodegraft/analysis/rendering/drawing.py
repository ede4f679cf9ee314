"""Import of matplotlib, which is an extra, and figures that are the same in every run."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

from nodegraft.base.extras import extra

with extra("plots", package="matplotlib", purpose="Drawing"):
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
    from matplotlib.transforms import Bbox

__all__ = [
    "Axes",
    "Bbox",
    "Figure",
    "Line2D",
    "SubFigure",
    "draw_on",
    "figure_style",
    "name_rows",
    "panel",
    "save_svg",
    "shorten",
    "svg_text",
]

# A page swaps each of these for its own shade by day and by night, so nothing else is drawn in.
INK, GREY, PAPER = "#1A1B1C", "#8A8F94", "#FEFEFD"
# The palette of Okabe and Ito: apart for colour-blind eyes.
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)

# In inches and points: a panel fills a phone, where one unit is about one pixel.
WIDTH, HEIGHT, FONT_SIZE = 4.6, 3.3, 8.5

# Matplotlib types its settings by their several hundred names.
STYLE: dict[Any, Any] = {
    "axes.edgecolor": INK,
    "axes.facecolor": "none",
    "axes.labelcolor": INK,
    "axes.labelsize": FONT_SIZE,
    "axes.linewidth": 0.7,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": FONT_SIZE + 0.5,
    "axes.titleweight": "bold",
    "figure.facecolor": "none",
    "font.size": FONT_SIZE,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,
    "xtick.color": INK,
    "ytick.color": INK,
}
figure_style = mpl.rc_context(STYLE)
"""A decorator for functions that draw: the fonts and colours of the page."""


def panel(
    title: str, x_label: str, y_label: str = "", size: tuple[float, float] = (WIDTH, HEIGHT)
) -> tuple[Figure, Axes]:
    """An empty panel with its title and the labels of its axes.

    >>> figure, axes = panel("gentoo", "session", "accuracy, %")
    >>> axes.get_xlabel()
    'session'

    Args:
        title: What stands above it, or nothing.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.set_title(title)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    return figure, axes


def draw_on(axes: Axes | None, size: tuple[float, float], draw: Callable[[Axes], None]) -> Axes:
    """Draw into given axes, or into those of a new pyplot figure; return the axes.

    Notebooks show a pyplot figure at the end of its cell. The text of a plot is never read as TeX.

    Args:
        axes: Axes to draw into, which keep the user's own style; None for a new figure.
    """
    if axes is not None:
        with mpl.rc_context({"text.parse_math": False}):
            draw(axes)
        return axes
    # Imported here because choosing a backend takes time.
    from matplotlib import pyplot

    # Before the context: a notebook's backend sets options with its first figure, which must stay.
    figure = pyplot.figure(figsize=size, layout="constrained", facecolor=PAPER)
    with mpl.rc_context(STYLE):
        axes = figure.subplots()
        draw(axes)
    return axes


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write a name to the left of each row, the first one at the top.

    Args:
        axes: The panel, whose rows are at 0, 1, 2 …
    """
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(names) - 0.4, -0.6)


def shorten(name: object, limit: int) -> str:
    """Return a name on one line; a long one loses its middle, since keys often share a start.

    >>> shorten("short", 12), shorten("https://shop/items/p91007", 12)
    ('short', 'https:…91007')
    """
    text = " ".join(str(name).split())
    tail = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def svg_text(figure: Figure) -> str:
    """A figure as SVG whose words are text, without numbers more exact than eyes are.

    >>> figure, _ = panel("a < b", "x")
    >>> ("a &lt; b</text>" in svg_text(figure), svg_text(figure) == svg_text(figure))
    (True, True)
    """
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    sink = BytesIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": "nodegraft", "svg.fonttype": "none"}):
        figure.savefig(sink, format="svg", metadata=nothing)
    return re.sub(r"(\d\.\d{2})\d+", r"\1", sink.getvalue().decode())


def save_svg(figure: Figure, path: Path) -> None:
    """Write a figure without date or random names, so that equal numbers give equal bytes."""
    with mpl.rc_context({"svg.hashsalt": "nodegraft"}):
        figure.savefig(path, metadata={"Date": None})


@dataclass(frozen=True)
class Picture:
    """A figure, and what goes with it in a page."""

    name: str
    """Name that is unique among figures of one kind; part of the file name."""

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
