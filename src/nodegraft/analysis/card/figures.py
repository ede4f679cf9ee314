"""Figure of a model card: held-out accuracy by version, and by least confidence."""

from nodegraft.analysis.card.card import Card
from nodegraft.analysis.rendering.drawing import (
    BLUE,
    HEIGHT,
    VERMILION,
    WIDTH,
    Axes,
    Figure,
    figure_style,
)
from nodegraft.analysis.rendering.label_places import label_line_ends
from nodegraft.analysis.rendering.picture import Picture


@figure_style
def draw_card(card: Card) -> Picture:
    """Draw one panel, or two if the method can abstain.

    Args:
        card: A card with held-out nodes.
    """
    panels = 1 if card.reliability is None else 2
    figure = Figure(figsize=(WIDTH * panels, HEIGHT), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    _draw_versions(axes[0], card)
    if card.reliability is not None:
        _draw_reliability(axes[1], card)
    return Picture(f"version-{card.version}", _describe(card), figure)


def _draw_versions(axes: Axes, card: Card) -> None:
    points = _by_version(card)
    axes.set_title("Version by version")
    axes.set_xlabel("version")
    axes.set_ylabel("held-out accuracy, %")
    axes.plot(list(points), list(points.values()), color=BLUE, marker="o", markersize=3.5)
    axes.set_xticks(list(points)[:: 1 + len(points) // 10])
    low = max(0.0, min(points.values()) - 5.0)
    # The limit is above 100 so that a marker at the top is not cut.
    axes.set_ylim(low, 100.0 + 0.02 * (100.0 - low))


def _draw_reliability(axes: Axes, card: Card) -> None:
    found = card.reliability or {}
    axes.set_title("Abstaining")
    axes.set_xlabel("least confidence")
    axes.set_ylabel("held-out nodes, %")
    coverage = {least: 100 * one.asked / card.held_out.asked for least, one in found.items()}
    right = {least: 100 * one.share for least, one in found.items() if one.share is not None}
    ends = {}
    for name, points, colour, dashes in (
        ("accuracy", right, BLUE, "-"),
        ("coverage", coverage, VERMILION, "--"),
    ):
        if points:
            places, heights = list(points), list(points.values())
            axes.plot(places, heights, dashes, color=colour, marker="o", markersize=3.5)
            ends[name] = (places[-1], heights[-1], colour)
    axes.set_ylim(0.0, 102.0)
    label_line_ends(axes, ends)


def _by_version(card: Card) -> dict[int, float]:
    """Return the accuracy of each version in percent; the last is on all held-out nodes."""
    found = {one.version: 100 * one.accuracy for one in card.history if one.accuracy is not None}
    return {**found, card.version: 100 * (card.held_out.share or 0.0)}


def _describe(card: Card) -> str:
    versions = ", ".join(f"{number}: {share:.1f} %" for number, share in _by_version(card).items())
    summary = f"Held-out accuracy by version: {versions}."
    if card.reliability is None:
        return summary
    levels = "; ".join(
        f"{least:.2f}: {one.asked} of {card.held_out.asked} predicted, {one.right} correctly"
        for least, one in card.reliability.items()
    )
    return f"{summary} By least confidence: {levels}."
