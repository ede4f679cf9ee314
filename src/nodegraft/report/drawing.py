"""The one door to matplotlib, which is an extra; and figures that come out the same every time."""

from pathlib import Path

try:
    import matplotlib as mpl
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure
    from matplotlib.lines import Line2D
except ModuleNotFoundError as error:
    if not (error.name or "").startswith("matplotlib"):
        raise
    raise ModuleNotFoundError(
        "Figures need their extra: pip install 'nodegraft[report]'", name="matplotlib"
    ) from error

__all__ = ["Axes", "Figure", "Line2D", "SubFigure", "save_svg"]


def save_svg(figure: Figure, path: Path) -> None:
    """The same bytes for the same numbers: neither a date nor random names."""
    with mpl.rc_context({"svg.hashsalt": "nodegraft"}):
        figure.savefig(path, metadata={"Date": None})
