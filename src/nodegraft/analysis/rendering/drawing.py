"""Reproducible figures. This module imports matplotlib, an optional dependency."""

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

# Figures use no other greys, because a page replaces these colours in its light and dark themes.
INK, GREY, PAPER = "#1A1B1C", "#8A8F94", "#FEFEFD"
# This is the palette of Okabe and Ito, whose colours colour-blind readers can distinguish.
BLUE, VERMILION, GREEN = "#0072B2", "#D55E00", "#009E73"
PURPLE, ORANGE, SKY = "#CC79A7", "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)

# Width and height are in inches, and the font size in points. A figure fills the screen of a phone,
# on which one point is about one pixel.
WIDTH, HEIGHT, FONT_SIZE = 4.6, 3.3, 8.5

# The type is Any because Matplotlib types these keys as a literal of several hundred names.
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
"""Decorator for drawing functions that sets the fonts and colours of the web page."""


def panel(
    title: str, x_label: str, y_label: str = "", size: tuple[float, float] = (WIDTH, HEIGHT)
) -> tuple[Figure, Axes]:
    """Return a new figure with empty axes, a title and axis labels.

    >>> figure, axes = panel("gentoo", "session", "accuracy, %")
    >>> axes.get_xlabel()
    'session'

    Args:
        title: Title above the axes; empty for none.
        x_label: Label of the x axis.
        y_label: Label of the y axis; empty for none.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.subplots()
        axes.set_title(title)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
    return figure, axes


def draw_on(axes: Axes | None, size: tuple[float, float], draw: Callable[[Axes], None]) -> Axes:
    """Call a drawing function on the given axes or on a new pyplot figure; return the axes.

    Notebooks show a pyplot figure at the end of its cell. Text is never interpreted as TeX.

    Args:
        axes: Axes to draw into, which keep the user's style; None for a new figure.
        size: Width and height of a new figure in inches.
    """
    if axes is not None:
        with mpl.rc_context({"text.parse_math": False}):
            draw(axes)
        return axes
    # Import here, because the import chooses a plotting backend, which takes time.
    from matplotlib import pyplot

    # Create the figure outside the style context. The first figure of a notebook sets options of
    # the backend, and the end of the context would reset them.
    figure = pyplot.figure(figsize=size, layout="constrained", facecolor=PAPER)
    with mpl.rc_context(STYLE):
        axes = figure.subplots()
        draw(axes)
    return axes


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write a name to the left of each row, starting with the top row.

    Args:
        axes: Axes with rows at 0, 1, 2 …
        names: Name of each row.
    """
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(names) - 0.4, -0.6)


def shorten(name: object, limit: int) -> str:
    """Return a name on one line; a long name is shortened in the middle.

    The ends are kept because keys often share a prefix.

    >>> shorten("short", 12), shorten("https://shop/items/p91007", 12)
    ('short', 'https:…91007')
    """
    text = " ".join(str(name).split())
    tail = (limit - 1) // 2
    return text if len(text) <= limit else f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def svg_text(figure: Figure) -> str:
    """Return a figure as SVG; words stay text elements, and coordinates have two decimals.

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
    """Write a figure as SVG without date or random names, so that equal data gives equal bytes."""
    with mpl.rc_context({"svg.hashsalt": "nodegraft"}):
        figure.savefig(path, metadata={"Date": None})


@dataclass(frozen=True)
class Picture:
    """Figure with its description and caption for a page."""

    name: str
    """Name that is unique among figures of the same kind; part of the file name."""

    description: str
    """Alternative text: sentences that describe the figure for readers who cannot see it."""

    figure: Figure
    """Matplotlib figure."""

    caption: str = ""
    """Caption below the figure."""

    @cached_property
    def svg(self) -> str:
        """SVG of the figure. It is cached, because it is used in a page and in a separate file."""
        return svg_text(self.figure)
