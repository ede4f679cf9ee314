"""Map of the nodes of a version: similar nodes close together, classes in colours."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.rendering.drawing import GREY, PALETTE, Axes, shorten

SIZE = (5.6, 5.0)
"""Width and height of the map in inches."""

# Two more than in other figures, where methods must also differ in grey.
COLOURS = (*PALETTE, "#7F3C8D", "#6B4F3A")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p")


def draw_map(
    axes: Axes, places: NDArray[np.float64], classes: NDArray[np.object_], first: Sequence[str]
) -> None:
    """Draw a point for each node; classes without a colour of their own are grey.

    Args:
        first: Classes in the order in which they get a colour, as far as there are colours.
    """
    coloured = list(first[: len(COLOURS)])
    rest = ~np.isin(classes, coloured)
    if rest.any():
        count = len({*classes[rest]})
        others = f"{count} other{'s' * (count > 1)}"
        x, y = places[rest].T
        grey = axes.scatter(x, y, s=5, color=GREY, alpha=0.5, lw=0)
    # Names are given to the legend itself: as labels, those that start with _ would be left out.
    handles, names = [], list[str]()
    for name, colour, marker in zip(coloured, COLOURS, MARKERS, strict=False):
        x, y = places[classes == name].T
        handles.append(axes.scatter(x, y, s=12, color=colour, marker=marker, alpha=0.8, lw=0))
        names.append(name)
    if rest.any():
        handles.append(grey)
        names.append(others)
    legend = axes.legend(
        handles,
        [shorten(name, 24) for name in names],
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        fontsize=8,
        markerscale=1.6,
        frameon=False,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.set_aspect("equal")
    axes.set_title(f"Map of {len(places):,} nodes by predicted class")
