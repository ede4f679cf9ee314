"""Plots of the accuracy of a version, with 95 % intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nodegraft.analysis.accuracy import ProbabilityBin, calibration_error
from nodegraft.analysis.rendering import drawing
from nodegraft.analysis.version import AccuracyCount

SIZE = (drawing.WIDTH, drawing.HEIGHT)
"""Width and height of a plot in inches."""

MOST = 24
"""Maximum number of classes with a separate row."""


def recall_size(recalls: Mapping[str, AccuracyCount], most: int = MOST) -> tuple[float, float]:
    """Return width and height in inches of a recall plot with one row per class."""
    return drawing.WIDTH, 0.9 + 0.19 * max(4, min(len(recalls), most))


def draw_recall(axes: drawing.Axes, recalls: Mapping[str, AccuracyCount], most: int = MOST) -> None:
    """Draw recall and its 95 % interval for each class; the class with the lowest recall is first.

    Args:
        recalls: Class -> number of correct predictions for its nodes; at least one node each.
        most: Maximum number of classes with a separate row.
    """
    ranked = sorted(recalls.items(), key=lambda item: (item[1].share or 0.0, -item[1].total))
    for row, (_, count) in enumerate(ranked[:most]):
        _draw_count(axes, count, row=row)
        axes.annotate(
            f"{count.right:,} of {count.total:,}",
            (1.02, row),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=7,
        )
    drawing.name_rows(axes, [drawing.shorten(name, 28) for name, _ in ranked[:most]])
    lows = [100 * count.interval[0] for _, count in ranked[:most] if count.interval]
    axes.set_xlim(10 * np.floor(min(lows) / 10) - 0.5, 100.5)
    axes.set_xlabel("recall, % (line: 95 % interval)")
    few = len(ranked) > most
    title = f"Recall: the {most} lowest of {len(ranked)} classes" if few else "Recall by class"
    axes.set_title(title)


def draw_calibration(axes: drawing.Axes, bins: Sequence[ProbabilityBin]) -> None:
    """Draw a reliability diagram: accuracy against probability, with 95 % intervals."""
    axes.plot([0, 100], [0, 100], "--", color=drawing.GREY, lw=1, zorder=1)
    largest = max(group.count.total for group in bins)
    for group in bins:
        _draw_count(axes, group.count, x=100 * group.probability, largest=largest)
    for group in bins:
        low = 100 * (group.count.interval or (0.0, 0.0))[0]
        beside = group.probability < 0.85
        axes.annotate(
            f"{group.count.total:,}",
            (100 * group.probability, low if beside else 100 * (group.count.share or 0.0)),
            xytext=(6, 2) if beside else (-9, 0),
            textcoords="offset points",
            ha="left" if beside else "right",
            va="bottom" if beside else "center",
            fontsize=7,
            color=drawing.GREY,
        )
    axes.set_xlim(0, 102)
    axes.set_ylim(0, 102)
    axes.set_xlabel("mean probability of the predictions, %")
    axes.set_ylabel("correct, % (line: 95 % interval)")
    error = 100 * calibration_error(tuple(bins))
    axes.set_title(f"Calibration: off by {error:.1f} points on average")
    axes.text(
        0.03,
        0.97,
        "dashed: probability = accuracy\ngrey numbers: nodes",
        transform=axes.transAxes,
        va="top",
        fontsize=7,
        color=drawing.GREY,
    )


def draw_history(
    axes: drawing.Axes, counts: Mapping[int, AccuracyCount], live: Sequence[int]
) -> None:
    """Draw held-out accuracy by version with 95 % intervals; fill the marks of live versions.

    Args:
        counts: Version -> correct predictions for held-out nodes, counted when the version was
            made.
    """
    measured = {number: count for number, count in counts.items() if count.total}
    shares = [100 * (count.share or 0.0) for count in measured.values()]
    axes.plot(list(measured), shares, color=drawing.GREY, lw=1, zorder=1)
    for number, count in measured.items():
        _draw_count(axes, count, x=number, filled=number in live)
    axes.set_xlabel("version (filled: was live)")
    axes.set_ylabel("held-out accuracy, % (line: 95 % interval)")
    axes.set_xticks(list(measured)[:: 1 + len(measured) // 10])
    axes.set_xlim(min(measured) - 0.5, max(measured) + 0.5)
    _upper_part(axes, list(measured.values()))
    axes.set_title("Held-out accuracy by version")


def draw_learning_curve(axes: drawing.Axes, counts: Mapping[int, AccuracyCount]) -> None:
    """Draw held-out accuracy against the number of labels per class, with 95 % intervals.

    Args:
        counts: Maximum number of labels per class -> correct predictions for held-out nodes.
    """
    shares = [100 * (count.share or 0.0) for count in counts.values()]
    axes.plot(list(counts), shares, color=drawing.BLUE, lw=1, zorder=1)
    for labels, count in counts.items():
        _draw_count(axes, count, x=labels)
    axes.set_xscale("log")
    axes.set_xticks(list(counts), [f"{labels:,}" for labels in counts])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("training labels of a class, at most (log scale)")
    axes.set_ylabel("held-out accuracy, % (line: 95 % interval)")
    _upper_part(axes, list(counts.values()))
    axes.set_title("Learning curve")


def draw_sessions(axes: drawing.Axes, accuracies: Mapping[str, Sequence[Sequence[float]]]) -> None:
    """Draw accuracy by session: a line for the mean over seeds, a band for their range.

    Args:
        accuracies: Method -> accuracy of each session, for each seed; the best method first.
    """
    for place, (name, seeds) in enumerate(accuracies.items()):
        values = 100 * np.array(seeds)
        colour = drawing.PALETTE[place] if place < len(drawing.PALETTE) else drawing.GREY
        marker = "os^DvP"[place] if place < len(drawing.PALETTE) else ""
        sessions = np.arange(values.shape[1])
        axes.plot(
            sessions,
            values.mean(axis=0),
            lw=1.2,
            markersize=4,
            label=name,
            color=colour,
            marker=marker,
        )
        low, high = values.min(axis=0), values.max(axis=0)
        axes.fill_between(sessions, low, high, color=colour, alpha=0.12, lw=0)
    axes.set_xticks(sessions)
    axes.set_ylim(bottom=max(0.0, axes.get_ylim()[0]), top=min(100.5, axes.get_ylim()[1]))
    axes.set_xlabel("session (0: before the first new class)")
    axes.set_ylabel("macro accuracy, % (band: range of seeds)")
    axes.set_title("Accuracy while classes are added")
    axes.legend(loc="lower left", fontsize=8)


def draw_abstaining(axes: drawing.Axes, levels: Mapping[float, AccuracyCount], total: int) -> None:
    """Draw accuracy and coverage of predictions against the confidence threshold.

    Args:
        levels: Confidence threshold -> correct predictions among those at or above the threshold.
        total: Number of all nodes, with or without a prediction.
    """
    counts = {100 * least: count for least, count in levels.items() if count.total}
    for name, colour, shares, dashes in (
        (
            "accuracy of these",
            drawing.BLUE,
            [100 * (count.share or 0.0) for count in counts.values()],
            "-",
        ),
        (
            "nodes with a prediction",
            drawing.VERMILION,
            [100 * count.total / total for count in counts.values()],
            "--",
        ),
    ):
        axes.plot(list(counts), shares, dashes, color=colour, marker="o", markersize=4, label=name)
    for least, count in counts.items():
        low, high = (100 * end for end in count.interval or (0.0, 0.0))
        axes.vlines(least, low, high, color=drawing.BLUE, lw=1)
    lowest = min(
        100 * min(count.total / total, (count.interval or (1.0,))[0]) for count in counts.values()
    )
    axes.set_ylim(max(0.0, 10 * np.floor(lowest / 10) - 1), 102)
    axes.set_xlabel("least confidence, %")
    axes.set_ylabel("held-out nodes, %")
    axes.set_title("Abstaining below a confidence")
    axes.legend(loc="lower left", fontsize=8)


def _draw_count(
    axes: drawing.Axes,
    count: AccuracyCount,
    *,
    x: float = 0.0,
    row: int | None = None,
    largest: int = 0,
    filled: bool = True,
) -> None:
    """Draw a share and its interval: vertically at `x`, or horizontally if `row` is given."""
    low, high = (100 * end for end in count.interval or (0.0, 0.0))
    share = 100 * (count.share or 0.0)
    size = 5.0 if not largest else 3.0 + 6.0 * float(np.sqrt(count.total / largest))
    face = drawing.BLUE if filled else "#FEFEFD"
    mark: dict[str, Any] = {
        "marker": "o",
        "markersize": size,
        "color": drawing.BLUE,
        "markerfacecolor": face,
    }
    across, up = ((low, high), (row, row)) if row is not None else ((x, x), (low, high))
    axes.plot(across, up, color=drawing.BLUE, lw=1.2)
    axes.plot(*((share, row) if row is not None else (x, share)), **mark, clip_on=False, zorder=3)


def _upper_part(axes: drawing.Axes, counts: Sequence[AccuracyCount]) -> None:
    """Limit the y axis to the range of the intervals, up to 100 %."""
    lowest = min(100 * (count.interval or (0.0,))[0] for count in counts)
    low = 5 * np.floor(lowest / 5)
    # Set the limit above 100 %, so that a marker at 100 % is drawn completely.
    axes.set_ylim(low, 100.0 + 0.02 * (100.0 - low))
