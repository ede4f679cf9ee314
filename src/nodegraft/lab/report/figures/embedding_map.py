"""Maps of node embeddings: new classes in colours, known classes in grey."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from scipy.spatial import cKDTree

from nodegraft.analysis.rendering import drawing
from nodegraft.analysis.rendering.label_places import label_points
from nodegraft.base.errors import DataError

SHAPES = ("o", "^", "s", "v", "P", "X")

# Type of a row of a map file, with keys method, x, y, class, kind, session and is_prototype.
Point = Mapping[str, Any]


@dataclass(frozen=True)
class EmbeddingMap:
    """Contents of a map file: its points, and the command that made it."""

    name: str
    """Name of the map file, without its suffix."""

    dataset: str
    """Name of the dataset."""

    after_session: int
    """Number of the last session that the method learned before nodes were embedded."""

    command: str
    """Command that reproduces the map file."""

    points: Sequence[Point]
    """Rows of the map file: nodes and class prototypes."""

    @classmethod
    def read(cls, path: Path) -> "EmbeddingMap":
        """Read a map file that ``nodegraft lab map`` wrote."""
        try:
            table = pa.parquet.read_table(path)
            about = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
            after = int(about["after"])
            return cls(path.stem, about["dataset"], after, about["command"], table.to_pylist())
        except (pa.ArrowException, OSError, KeyError, ValueError, AttributeError) as error:
            raise DataError(
                f"{path} is no map that `nodegraft lab map` wrote: {error!r}."
            ) from error

    @cached_property
    @drawing.figure_style
    def pictures(self) -> list[drawing.Picture]:
        """Figures of the map, one for each method."""
        return [self._panel(method) for method in dict.fromkeys(p["method"] for p in self.points)]

    def _panel(self, method: str) -> drawing.Picture:
        points = [point for point in self.points if point["method"] == method]
        figure, axes = drawing.panel(
            f"{method} on {self.dataset}, after session {self.after_session}", ""
        )
        axes.set_axis_off()
        _draw_known([point for point in points if not point["session"]], axes)
        _draw_new([point for point in points if point["session"]], axes)
        nodes = [point for point in points if not point["is_prototype"]]
        new = {point["class"] for point in nodes if point["session"]}
        caption = (
            f"{method}, {len(nodes)} nodes of {len({p['class'] for p in nodes})} classes: the "
            f"nearest point has the same class for {_purity(nodes, known=True)} of known and "
            f"{_purity(nodes, known=False)} of new classes ({', '.join(sorted(new))})."
        )
        return drawing.Picture(method, caption, figure, caption)


def read_maps(folder: Path) -> list[EmbeddingMap]:
    """Read all map files of a folder, sorted by name; return none if the folder does not exist.

    >>> read_maps(Path("nowhere"))
    []
    """
    return [EmbeddingMap.read(path) for path in sorted(folder.glob("*.parquet"))]


def _draw_known(points: Sequence[Point], axes: drawing.Axes) -> None:
    nodes, means = ([p for p in points if p["is_prototype"] is which] for which in (False, True))
    axes.plot(
        [p["x"] for p in nodes], [p["y"] for p in nodes], ".", color=drawing.GREY, ms=2, alpha=0.55
    )
    axes.plot(
        [p["x"] for p in means], [p["y"] for p in means], "x", color=drawing.INK, ms=4, mew=0.8
    )


def _draw_new(points: Sequence[Point], axes: drawing.Axes) -> None:
    names = list(dict.fromkeys(point["class"] for point in points))
    labels = {}
    for place, name in enumerate(names):
        colour = drawing.PALETTE[place % len(drawing.PALETTE)]
        own = [point for point in points if point["class"] == name]
        shape = SHAPES[(own[0]["session"] - 1) % len(SHAPES)]
        nodes = [(point["x"], point["y"]) for point in own if not point["is_prototype"]]
        axes.plot(*zip(*nodes, strict=True), shape, color=colour, markersize=3, alpha=0.8, mew=0)
        for point in own:
            if point["is_prototype"]:
                at = (point["x"], point["y"])
                axes.plot(*at, "D", color=colour, markersize=6, markeredgecolor=drawing.INK)
                labels[name] = (*at, drawing.INK)
    label_points(
        axes, labels, avoid_points=[(p["x"], p["y"]) for p in points if not p["is_prototype"]]
    )


def _purity(nodes: Sequence[Point], known: bool) -> str:
    places = np.array([(point["x"], point["y"]) for point in nodes])
    names = np.array([point["class"] for point in nodes])
    _, near = cKDTree(places).query(places, k=2)
    is_member = np.array([(point["session"] == 0) == known for point in nodes])
    same = names[near[:, 1]] == names
    return f"{100 * same[is_member].mean():.0f} %"
