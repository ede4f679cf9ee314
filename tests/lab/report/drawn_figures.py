"""What tests ask of any figure."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text
from numpy.typing import NDArray


def places(line: Line2D) -> NDArray[np.float64]:
    """What a line goes through."""
    return np.asarray(line.get_xydata(), dtype=np.float64)


def visible_texts(figure: Figure) -> Iterator[Text]:
    for text in figure.findobj(Text):
        assert isinstance(text, Text)
        if text.get_visible() and text.get_text().strip():
            yield text


def overlaps(figure: Figure) -> list[tuple[str, str]]:
    """Pairs of texts whose boxes share more than a rounding error."""
    figure.draw_without_rendering()
    texts = list(visible_texts(figure))
    # Of the letters alone: an annotation's own extent has its line in it.
    boxes = np.array([Text.get_window_extent(text).extents for text in texts])
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    shared = np.minimum(high, high.swapaxes(0, 1)) - np.maximum(low, low.swapaxes(0, 1))
    pairs = np.argwhere(np.triu((shared > 0.5).all(axis=2), k=1))
    return [(texts[one].get_text(), texts[other].get_text()) for one, other in pairs]
