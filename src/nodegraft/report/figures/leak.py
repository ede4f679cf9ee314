"""Figures of what the published protocol adds: strict and leaky accuracy of the same models."""

from nodegraft.evaluation.published import PUBLISHED
from nodegraft.report.figures.canvas.drawing import (
    GREY,
    INK,
    PAPER,
    Axes,
    Figure,
    figure_style,
    panel,
)
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.figures.canvas.styles import DEFAULT_STYLE, Styles
from nodegraft.report.groups import Groups, by_method, datasets, mean, paired_differences

# In inches: a row, and title, axis and legend around all of them.
LINE, MARGIN = 0.32, 0.95
FILLED, HOLLOW = "strict (filled)", "published, leaky (hollow)"


@figure_style
def draw_leak(groups: Groups, styles: Styles) -> list[Picture]:
    """For each dataset and method a line from the strict to the leaky accuracy.

    Args:
        groups: The records, grouped; see group().
        styles: Name of a method -> how it is drawn in the whole report.
    """
    return [
        _picture(dataset, accuracies, styles)
        for dataset in datasets(groups)
        if (accuracies := leak_by_method(groups, dataset))
    ]


def leak_by_method(groups: Groups, dataset: str) -> dict[str, tuple[float, float]]:
    """Method -> strict and leaky accuracy in the last session, in percent, over common seeds.

    >>> strict, leaky = ([{"seed": 0, "summary": {"last_accuracy": a}}] for a in (0.25, 0.75))
    >>> both = {("gentoo", "a", "strict"): strict, ("gentoo", "a", "published (leaky)"): leaky}
    >>> leak_by_method(both, "gentoo")
    {'a': (25.0, 75.0)}

    Args:
        groups: The records, grouped; see group().
        dataset: The name of the dataset.
    """
    published = by_method(groups, dataset, PUBLISHED)
    accuracies = {}
    for name, strict in by_method(groups, dataset).items():
        common = {run["seed"] for run in published.get(name, [])}
        kept = [run for run in strict if run["seed"] in common]
        if kept:
            more = paired_differences(kept, published[name])
            accuracies[name] = (100 * mean(kept), 100 * (mean(kept) + sum(more) / len(more)))
    return accuracies


def _picture(dataset: str, accuracies: dict[str, tuple[float, float]], styles: Styles) -> Picture:
    size = (4.6, LINE * len(accuracies) + MARGIN)
    figure, axes = panel(dataset, "last session: macro accuracy, %", size=size)
    rows = range(len(accuracies))
    strict, leaky = zip(*accuracies.values(), strict=True)
    axes.hlines(rows, strict, leaky, color=GREY, lw=2)
    for row, (name, (honest, inflated)) in enumerate(accuracies.items()):
        style = styles.get(name, DEFAULT_STYLE)
        axes.plot(honest, row, style.marker, color=style.colour)
        axes.plot(inflated, row, style.marker, color=style.colour, markerfacecolor=PAPER)
        axes.annotate(
            f"{inflated - honest:+.1f}",
            (1.0, row),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
        )
    axes.set_yticks(rows, list(accuracies))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(accuracies) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    # The same scale everywhere, so that lengths compare between graphs.
    axes.set_xlim(0.0, 100.0)
    _add_legend(figure, axes)
    differences = "; ".join(
        f"{name} {honest:.1f} % strict, {inflated:.1f} % leaky ({inflated - honest:+.1f} points)"
        for name, (honest, inflated) in accuracies.items()
    )
    return Picture(dataset, f"Accuracy after the last session on {dataset}: {differences}.", figure)


def _add_legend(figure: Figure, axes: Axes) -> None:
    handles = axes.plot([], [], "o", color=INK, label=FILLED)
    handles += axes.plot([], [], "o", color=INK, markerfacecolor=PAPER, label=HOLLOW)
    figure.legend(handles=handles, loc="outside lower center", ncols=2)
