"""A figure of how far methods are apart on each graph: effect sizes, and no test over graphs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nodegraft.analysis.rendering.drawing import GREY, figure_style, panel
from nodegraft.analysis.rendering.picture import Picture
from nodegraft.evaluation.metrics import interval
from nodegraft.lab.report.figures.styles import DEFAULT_STYLE, Styles
from nodegraft.lab.report.groups import (
    Groups,
    Record,
    by_method,
    comparable_groups,
    datasets,
    mean,
    paired_differences,
)

# In inches: a row, and the axis below all of them.
LINE, MARGIN = 0.19, 0.9


@dataclass(frozen=True)
class Effect:
    """How far a method is from the best one on a graph, in points, paired by seed."""

    name: str
    """The method."""

    difference: float
    """Its last accuracy minus the best one's, the mean over seeds."""

    half_width: float
    """Half the width of the difference's 95 % interval."""

    seeds: int
    """How many seeds both have."""

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves zero out."""
        return abs(self.difference) > self.half_width


def effects(runs: Mapping[str, Sequence[Record]]) -> tuple[str, list[Effect]]:
    """The best method, and how far each other one is behind it, nearest first.

    >>> low, high = ([{"seed": 0, "summary": {"last_accuracy": share}}] for share in (0.5, 0.75))
    >>> best, (behind,) = effects({"a": low, "b": high})
    >>> best, behind.name, behind.difference, behind.seeds
    ('b', 'a', -25.0, 1)

    Args:
        runs: Method -> its records on one graph, at least one method.
    """
    best = max(runs, key=lambda name: mean(runs[name]))
    found = []
    for name, own in runs.items():
        points = 100 * np.array(paired_differences(runs[best], own))
        if name != best and points.size:
            found.append(Effect(name, float(points.mean()), interval(points), points.size))
    return best, sorted(found, key=lambda one: -one.difference)


@figure_style
def draw_effects(groups: Groups, styles: Styles) -> list[Picture]:
    """For each graph a mark for every method, with the interval over seeds.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    names = datasets(comparable_groups(groups))
    found = [(name, effects(by_method(groups, name))) for name in names]
    return [_picture(name, best, others, styles) for name, (best, others) in found if others]


def _picture(dataset: str, best: str, others: Sequence[Effect], styles: Styles) -> Picture:
    shown = [Effect(best, 0.0, 0.0, max(one.seeds for one in others)), *others]
    size = (4.6, LINE * len(shown) + MARGIN)
    figure, axes = panel(dataset, f"points behind {best} in the last session", size=size)
    axes.axvline(0.0, color=GREY, lw=1)
    for row, one in enumerate(shown):
        style = styles.get(one.name, DEFAULT_STYLE)
        axes.hlines(row, *_ends(one), color=style.colour, lw=1.5)
        axes.plot(one.difference, row, style.marker, color=style.colour, markersize=5)
        axes.annotate(
            f"{one.difference:+.1f}" if row else "best",
            (1.0, row),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
        )
    axes.set_yticks(range(len(shown)), [one.name for one in shown])
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    return Picture(dataset, _description(dataset, best, others), figure, _caption(best, others))


def _ends(one: Effect) -> tuple[float, float]:
    return one.difference - one.half_width, one.difference + one.half_width


def _caption(best: str, others: Sequence[Effect]) -> str:
    close = [one.name for one in others if not one.is_clear]
    counts = sorted({one.seeds for one in others})
    seeds = f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
    if close:
        return f"{seeds}. The interval of {', '.join(close)} holds zero: no clear order to {best}."
    return f"{seeds}. No interval holds zero."


def _description(dataset: str, best: str, others: Sequence[Effect]) -> str:
    told = ", ".join(f"{one.name} {one.difference:+.1f} ± {one.half_width:.1f}" for one in others)
    return (
        f"On {dataset}, points behind {best} in the last session, paired by seed, with 95 % "
        f"intervals: {told}."
    )
