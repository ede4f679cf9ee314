"""Figures with a line for each method, such as accuracy over sessions."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nodegraft.analysis.rendering.drawing import GREY, Axes, Picture, panel
from nodegraft.analysis.rendering.label_places import label_line_ends
from nodegraft.evaluation.metrics import interval
from nodegraft.lab.report import groups
from nodegraft.lab.report.figures.styles import Styles

Runs = Mapping[str, Sequence[groups.Record]]
# Panels of the figure: axis label, name of the size that varies, name of the size that is fixed.
STUDIES = (
    ("labels of a new class (K)", "shots", "ways"),
    ("new classes a session (N)", "ways", "shots"),
)


class Line(NamedTuple):
    """Data of the line that is drawn for one method."""

    x: Sequence[float]
    """Positions on the horizontal axis."""

    y: Sequence[float]
    """Value at each position."""

    half_widths: Sequence[float] | None = None
    """Half the width of the 95 % interval of each value; None to draw no intervals."""


def draw_curves(dataset: str, runs: Runs, styles: Styles) -> list[Picture]:
    """Draw accuracy by session, with bands that show 95 % intervals.

    The best grey line is also labelled if it ends above a line with a style.
    """
    lines = {}
    for name, own in runs.items():
        means, half_widths = groups.accuracy_curve(own)
        lines[name] = Line(range(means.size), means.tolist(), half_widths.tolist())
    figure, axes = panel(dataset, "session (0: after training)", "macro accuracy, %")
    ends = _draw_lines(axes, lines, styles)
    if ends:
        axes.set_xticks(next(iter(lines.values())).x)
    others = {name: (line.x[-1], line.y[-1], GREY) for name, line in lines.items()}
    best = max(others.keys() - ends.keys(), key=lambda name: others[name][1], default="")
    if best and any(others[best][1] > height for _, height, _ in ends.values()):
        ends[best] = others[best]
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]))
    label_line_ends(axes, ends)
    ranked = sorted(runs, key=lambda name: -groups.mean(runs[name]))
    parts = (f"{n} from {lines[n].y[0]:.1f} to {lines[n].y[-1]:.1f} %" for n in ranked)
    description = f"Macro accuracy on {dataset} from the first to the last session: "
    return [Picture(dataset, f"{description}{'; '.join(parts)}.", figure)]


def draw_risk_coverage(dataset: str, runs: Runs, styles: Styles) -> list[Picture]:
    """Draw the error rate in the last session over the share of nodes with a prediction."""
    errors = {name: error_by_coverage(own) for name, own in runs.items()}
    lines = {name: Line([*own], [*own.values()]) for name, own in errors.items()}
    figure, axes = panel(
        dataset, "nodes predicted, most confident first, %", "last session: errors, %"
    )
    ends = _draw_lines(axes, lines, styles)
    axes.set_ylim(bottom=0.0)
    label_line_ends(axes, ends)
    parts = (
        f"{name} {line.y[-1]:.1f} %, in the most confident {line.x[0]:.0f} % {line.y[0]:.1f} %"
        for name, line in sorted(lines.items(), key=lambda item: item[1].y[-1])
    )
    description = f"Errors on {dataset} in the last session, in all nodes: {'; '.join(parts)}."
    return [Picture(dataset, description, figure)]


def draw_ways_shots(dataset: str, runs: Runs, styles: Styles) -> list[Picture]:
    """Draw accuracy after the last session over K at the usual N, and over N at the usual K.

    K is the number of labels of a new class, N the number of new classes per session.

    Args:
        runs: Run records on the dataset by method; method names may end in a setting.
    """
    methods: dict[str, list[groups.Record]] = {}
    for name, own in runs.items():
        methods.setdefault(groups.without_setting(name), []).extend(own)
    pictures = []
    for label, varied, fixed in STUDIES:
        size = usual_size([run for own in methods.values() for run in own], varied, fixed)
        accuracies = {
            name: accuracies_by_size(own, varied, fixed, size) for name, own in methods.items()
        }
        lines = {name: _line(own) for name, own in accuracies.items() if own}
        if not any(len(line.x) > 1 for line in lines.values()):
            continue
        setting = f"{size}-{fixed.removesuffix('s')}"
        figure, axes = panel(f"{dataset}, {setting}", label, "last session: macro accuracy, %")
        ends = _draw_lines(axes, lines, styles, whiskers=True)
        axes.set_xticks(sorted({place for line in lines.values() for place in line.x}))
        label_line_ends(axes, ends)
        parts = (
            f"{name} " + ", ".join(f"{y:.1f} % at {x}" for x, y in zip(line.x, line.y, strict=True))
            for name, line in lines.items()
        )
        description = f"Last session on {dataset} at {setting}, by {label}: {'; '.join(parts)}."
        pictures.append(Picture(f"{dataset}-{varied}", description, figure))
    return pictures


def error_by_coverage(runs: Sequence[groups.Record]) -> dict[float, float]:
    """Return the error rate by coverage (share of nodes with a prediction), both in percent.

    >>> error_by_coverage([{"sessions": [{"accuracy_at_coverage": {"0.50": 0.9, "1.00": 0.75}}]}])
    {50.0: 10.0, 100.0: 25.0}

    Args:
        runs: At least one run record; only the last session of each is used.
    """
    measured = [run["sessions"][-1]["accuracy_at_coverage"] for run in runs]
    return {
        100 * float(coverage): round(100 - 100 * float(np.mean([m[coverage] for m in measured])), 6)
        for coverage in measured[0]
    }


def accuracies_by_size(
    runs: Sequence[groups.Record], varied: str, fixed: str, fixed_size: int
) -> dict[int, list[float]]:
    """Return last accuracies of runs for each value of the varied size; the other size is fixed.

    >>> run = {"setting": {"ways": 3, "shots": 5}, "summary": {"last_accuracy": 0.5}}
    >>> accuracies_by_size([run], "shots", "ways", 3), accuracies_by_size([run], "shots", "ways", 5)
    ({5: [0.5]}, {})

    Args:
        varied: Size that differs between runs: "ways" or "shots".
        fixed: Size that is fixed: "shots" or "ways".
        fixed_size: Value of the fixed size; runs with another value are left out.
    """
    matching = [run for run in runs if run["setting"][fixed] == fixed_size]
    sizes = sorted({run["setting"][varied] for run in matching})
    return {
        size: groups.summary_values([run for run in matching if run["setting"][varied] == size])
        for size in sizes
    }


def usual_size(runs: Sequence[groups.Record], varied: str, fixed: str) -> int:
    """Return the value of the fixed size for which most values of the varied size were measured.

    >>> runs = [{"setting": {"ways": w, "shots": s}} for w, s in ((3, 1), (3, 5), (5, 5))]
    >>> usual_size(runs, "shots", "ways")
    3
    """
    pairs = groups.unique((run["setting"][fixed], run["setting"][varied]) for run in runs)
    ((size, _),) = Counter(size for size, _ in pairs).most_common(1)
    return int(size)


def _line(accuracies: Mapping[int, Sequence[float]]) -> Line:
    values = [100 * np.array(shares) for shares in accuracies.values()]
    return Line([*accuracies], [float(v.mean()) for v in values], [interval(v) for v in values])


def _draw_lines(
    axes: Axes, lines: Mapping[str, Line], styles: Styles, whiskers: bool = False
) -> dict[str, tuple[float, float, str]]:
    """Draw all lines; return end point and colour of each line with a style, by method name."""
    ends = {}
    for name, (x, y, half_widths) in lines.items():
        if name not in styles:
            axes.plot(x, y, color=GREY, linewidth=0.6, alpha=0.6, zorder=1)
            continue
        colour, dashes, marker = styles[name].colour, styles[name].dashes, styles[name].marker
        axes.plot(x, y, dashes, color=colour, marker=marker, markersize=3.5)
        if half_widths:
            # Clip the interval, because a Student's t interval can extend below 0 % or above 100 %.
            low, high = (np.clip(end, 0.0, 100.0) for end in _ends(y, half_widths))
            if whiskers:
                axes.errorbar(x, y, (y - low, high - y), color=colour, ls="", capsize=2)
            else:
                axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        ends[name] = (float(x[-1]), float(y[-1]), colour)
    return ends


def _ends(
    middles: Sequence[float], half_widths: Sequence[float]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.subtract(middles, half_widths), np.add(middles, half_widths)
