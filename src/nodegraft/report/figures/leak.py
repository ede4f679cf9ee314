"""Figures of what the published protocol adds: strict and leaky accuracy of the same models."""

from nodegraft.evaluation.published import PUBLISHED
from nodegraft.report.figures.canvas.drawing import BLUE, GREY, VERMILION, house_style, panel
from nodegraft.report.figures.canvas.picture import Picture
from nodegraft.report.groups import Groups, by_method, datasets, gains, mean

LINE, MARGIN = 0.32, 0.95


@house_style
def leak(groups: Groups) -> list[Picture]:
    """For each dataset and method a line from the strict to the leaky accuracy."""
    return [
        _picture(dataset, pairs)
        for dataset in datasets(groups)
        if (pairs := inflation(groups, dataset))
    ]


def inflation(groups: Groups, dataset: str) -> dict[str, tuple[float, float]]:
    """Method -> strict and leaky accuracy in the last session, in percent, over common seeds.

    >>> strict, leaky = ([{"seed": 0, "summary": {"last_accuracy": a}}] for a in (0.25, 0.75))
    >>> both = {("gentoo", "a", "strict"): strict, ("gentoo", "a", "published (leaky)"): leaky}
    >>> inflation(both, "gentoo")
    {'a': (25.0, 75.0)}
    """
    published = by_method(groups, dataset, PUBLISHED)
    pairs = {}
    for name, strict in by_method(groups, dataset).items():
        common = {run["seed"] for run in published.get(name, [])}
        kept = [run for run in strict if run["seed"] in common]
        if kept:
            more = gains(kept, published[name])
            pairs[name] = (100 * mean(kept), 100 * (mean(kept) + sum(more) / len(more)))
    return pairs


def _picture(dataset: str, pairs: dict[str, tuple[float, float]]) -> Picture:
    size = (4.6, LINE * len(pairs) + MARGIN)
    figure, axes = panel(dataset, "last session: macro accuracy, %", size=size)
    rows = range(len(pairs))
    strict, leaky = zip(*pairs.values(), strict=True)
    axes.hlines(rows, strict, leaky, color=GREY, lw=2)
    axes.plot(strict, rows, "o", color=BLUE, label="strict")
    axes.plot(leaky, rows, "s", color=VERMILION, label="published (leaky)")
    for row, (honest, inflated) in enumerate(pairs.values()):
        axes.annotate(
            f"{inflated - honest:+.1f}",
            (1.0, row),
            xycoords=("axes fraction", "data"),
            va="center",
            ha="left",
        )
    axes.set_yticks(rows, list(pairs))
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(pairs) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    # The same scale everywhere, so that lengths compare between graphs.
    axes.set_xlim(0.0, 100.0)
    figure.legend(loc="outside lower center", ncols=2)
    told = "; ".join(
        f"{name} {honest:.1f} % strict, {inflated:.1f} % leaky ({inflated - honest:+.1f} points)"
        for name, (honest, inflated) in pairs.items()
    )
    return Picture(dataset, f"Accuracy after the last session on {dataset}: {told}.", figure)
