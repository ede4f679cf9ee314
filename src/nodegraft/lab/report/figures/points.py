"""Figures with a point for each method, such as accuracy by cost."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from nodegraft.analysis.own_labels.comparison import Estimate
from nodegraft.analysis.rendering.drawing import (
    GREY,
    INK,
    Axes,
    Picture,
    figure_style,
    name_rows,
    panel,
)
from nodegraft.analysis.rendering.label_places import label_points
from nodegraft.lab.report import groups
from nodegraft.lab.report.figures.styles import DEFAULT_STYLE, PAPERS_METHOD, LineStyle, Styles
from nodegraft.lab.report.recommendation import Recommendation

Runs = Mapping[str, Sequence[groups.Record]]
# Method name -> (seconds per session, last accuracy in percent)
Points = Mapping[str, tuple[float, float]]
# Sizes in inches: width of a figure, height of a row, height of the axis below the rows. Figures at
# the top of the report use the large sizes.
WIDTH, ROW, MARGIN = 4.6, 0.19, 0.9
LARGE_ROW, LARGE_MARGIN = 0.42, 1.05


def draw_pareto(dataset: str, runs: Runs, styles: Styles) -> list[Picture]:
    """Draw accuracy over seconds per session, with a line along the Pareto frontier."""
    points = {
        name: (groups.median_seconds(own)[1], 100 * groups.mean(own)) for name, own in runs.items()
    }
    figure, axes = panel(
        dataset,
        "seconds to learn a session and predict (log scale)",
        "last session: macro accuracy, %",
    )
    front = frontier(points)
    corners = [points[front[0]]]
    for (_, before), (x, y) in pairwise(points[name] for name in front):
        corners += [(x, before), (x, y)]
    axes.plot(*zip(*corners, strict=True), color=GREY, lw=1)
    for name, point in points.items():
        style, size = styles.get(name, DEFAULT_STYLE), 5 if name in styles else 3.5
        axes.plot(*point, style.marker, color=style.colour, markersize=size)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    # Hide the labels of minor ticks, which would show TeX source.
    axes.xaxis.set_minor_formatter("")
    axes.margins(x=0.12, y=0.1)
    # Place the labels of important methods first.
    order = sorted(points, key=lambda name: (name not in front, name not in styles))
    coloured = {name: styles[name].colour for name in styles if styles[name].is_coloured}
    labels = {name: (*points[name], coloured.get(name, INK)) for name in order}
    label_points(axes, labels, corners)
    listed = ", ".join(f"{n} ({points[n][0]:.3f} s, {points[n][1]:.1f} %)" for n in front)
    description = (
        f"On {dataset} no method is both faster in a session and as accurate after the last "
        f"one as these, from fastest to most accurate: {listed}. "
        f"{len(points) - len(front)} others are worse in both."
    )
    return [Picture(dataset, description, figure)]


def frontier(points: Points) -> list[str]:
    """Return the methods on the Pareto frontier of speed and accuracy, fastest first.

    >>> frontier({"slow": (2.0, 60.0), "fast": (1.0, 50.0), "bad": (2.0, 40.0)})
    ['fast', 'slow']
    """
    best, front = float("-inf"), []
    for name in sorted(points, key=lambda name: (points[name][0], -points[name][1])):
        if points[name][1] > best:
            best = points[name][1]
            front.append(name)
    return front


def effects(runs: Runs) -> tuple[str, dict[str, Estimate]]:
    """Return the best method, and the lead of each other method over it, smallest gap first.

    Leads are in points and paired by seed; most of them are negative.

    >>> low, high = ([{"seed": 0, "summary": {"last_accuracy": share}}] for share in (0.5, 0.75))
    >>> effects({"a": low, "b": high})
    ('b', {'a': Estimate(mean=-25.0, half_width=0.0, seeds=1)})

    Args:
        runs: Run records on one graph by method; at least one method.
    """
    best = max(runs, key=lambda name: groups.mean(runs[name]))
    leads = {
        name: lead
        for name, own in runs.items()
        if name != best and (lead := groups.points_ahead(own, runs[best]))
    }
    return best, dict(sorted(leads.items(), key=lambda item: -item[1].mean))


def draw_effects(dataset: str, runs: Runs, styles: Styles) -> list[Picture]:
    """Draw each method's difference to the best method; return no figure for a single method."""
    best, others = effects(runs)
    if not others:
        return []
    rows = {best: Estimate(0.0, 0.0, 0), **others}
    size = (WIDTH, ROW * len(rows) + MARGIN)
    figure, axes = panel(dataset, f"points behind {best} in the last session", size=size)
    axes.axvline(0.0, color=GREY, lw=1)
    for row, (name, lead) in enumerate(rows.items()):
        style = styles.get(name, DEFAULT_STYLE)
        draw_interval(axes, row, lead, style)
        axes.annotate(
            f"{lead.mean:+.1f}" if row else "best",
            (1.0, row),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
        )
    name_rows(axes, [*rows])
    listed = ", ".join(f"{n} {e.mean:+.1f} ± {e.half_width:.1f}" for n, e in others.items())
    description = (
        f"On {dataset}, points behind {best} in the last session, paired by seed, with 95 % "
        f"intervals: {listed}."
    )
    return [Picture(dataset, description, figure, _caption(best, others))]


def draw_interval(axes: Axes, row: float, lead: Estimate, style: LineStyle) -> None:
    """Draw a point with its 95 % interval in a row of a figure."""
    ends = lead.mean - lead.half_width, lead.mean + lead.half_width
    axes.hlines(row, *ends, color=style.colour, lw=1.5)
    axes.plot(lead.mean, row, style.marker, color=style.colour, markersize=5)


@figure_style
def draw_recommendation(recommendation: Recommendation, styles: Styles) -> Picture:
    """Draw accuracies on each dataset: winner, runner-up and paper's method, and others in grey."""
    graphs = recommendation.graphs
    size = (WIDTH, LARGE_ROW * len(graphs) + LARGE_MARGIN)
    figure, axes = panel("After the last session", "macro accuracy, %", size=size)
    papers = [PAPERS_METHOD] if PAPERS_METHOD in recommendation.names else []
    names = groups.unique([recommendation.winner, recommendation.runner_up, *papers])
    marks: dict[str, dict[str, Any]] = {}
    for name in names:
        style = styles.get(name, DEFAULT_STYLE)
        marker_size = 8.0 if name == recommendation.winner else 6.0
        marks[name] = {"marker": style.marker, "color": style.colour, "markersize": marker_size}
    parts = []
    for row, dataset in enumerate(graphs):
        runs = groups.by_method(recommendation.groups, dataset)
        accuracies = {name: 100 * groups.mean(own) for name, own in runs.items()}
        rest = [accuracies[name] for name in accuracies if name not in marks]
        axes.plot(rest, [row] * len(rest), "|", color=GREY, markersize=7)
        for name in reversed(names):
            axes.plot(accuracies[name], row, linestyle="", **marks[name])
        parts.append(f"{dataset}: {', '.join(f'{n} {accuracies[n]:.1f} %' for n in names)}")
    name_rows(axes, graphs)
    axes.set_xlim(0.0, 100.0)
    handles = [axes.plot([], [], linestyle="", label=n, **mark)[0] for n, mark in marks.items()]
    handles += axes.plot([], [], "|", color=GREY, markersize=7, label="other methods")
    figure.legend(
        handles=handles, loc="outside lower center", ncols=4, handletextpad=0.2, columnspacing=1.0
    )
    description = f"Macro accuracy after the last session on {'; '.join(parts)}."
    return Picture("recommendation", description, figure)


def _caption(best: str, others: Mapping[str, Estimate]) -> str:
    close = [name for name, lead in others.items() if abs(lead.mean) <= lead.half_width]
    counts = sorted({lead.seeds for lead in others.values()})
    seeds = f"{counts[0]} seeds" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} seeds"
    if not close:
        return f"{seeds}. No interval contains zero."
    names = ", ".join(close)
    return f"{seeds}. The interval of {names} contains zero: no clear difference to {best}."
